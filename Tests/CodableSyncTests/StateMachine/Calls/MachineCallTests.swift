import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Callers that wait for `sync`, `sendChanges` or `fetchChanges`.
final class MachineCallTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine = .synced { $0.automaticallySyncs = false }
        machine.run(.calls(.sync(machine.newCall(), [.fetch])))
        machine.confirmAccount()
        machine.finishSetup()
        machine.answerFetch(token: "0")
    }

    func testNoRequestIsMadeWithoutACaller() {
        machine.upload("A", 1)
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, [])
        XCTAssertNil(machine.timers[.poll])
        XCTAssertEqual(machine.run(.timePassed).requests, [])
    }

    func testSyncFetchesThenSendsThenAnswers() {
        machine.upload("A", 1)
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), [.fetch, .send]))).requests, ["fetch 0"])
        let fetched = machine.answerFetch([.init("B", 2)], token: "1")
        XCTAssertEqual(fetched.requests, ["send A=1@-"])
        XCTAssertEqual(fetched.answers, [])
        var summary = SyncSummary()
        summary.sent = 1
        summary.fetched = 1
        XCTAssertEqual(saveAll(from: 10).answers, [.summary(summary)])
    }

    func testSendAloneDoesNotFetch() {
        machine.upload("A", 1)
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), .send))).requests, ["send A=1@-"])
        XCTAssertEqual(saveAll(from: 10).answers.count, 1)
    }

    func testFetchAloneDoesNotSend() {
        machine.upload("A", 1)
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), .fetch))).requests, ["fetch 0"])
        let actions = machine.answerFetch(token: "1")
        XCTAssertEqual(actions.requests, [])
        var summary = SyncSummary()
        summary.pending = 1
        XCTAssertEqual(actions.answers, [.summary(summary)])
    }

    func testSendWithoutChangesReturnsImmediately() {
        XCTAssertEqual(
            machine.run(.calls(.sync(machine.newCall(), .send))).answers,
            [.summary(SyncSummary())]
        )
    }

    /// P3: calls made during a run share the next one.
    func testCallersShareTheNextRun() {
        machine.run(.calls(.sync(machine.newCall(), .fetch)))
        for _ in 0..<20 { XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), .fetch))).requests, []) }
        let first = machine.answerFetch(token: "1")
        XCTAssertEqual(first.answers.count, 1)
        XCTAssertEqual(first.requests, ["fetch 1"])
        XCTAssertEqual(machine.answerFetch(token: "1").answers.count, 20)
        XCTAssertNil(machine.fetchRequest)
    }

    func testSyncWaitsForConflictsAndTheirUploads() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        XCTAssertEqual(machine.answerFetch([.init("A", 5)], token: "1").answers, [])
        XCTAssertEqual(machine.resolve { _ in .merged(6, size: 1, edited: nil) }.answers, [])
        let answers = saveAll(from: 10).answers
        var summary = SyncSummary()
        summary.sent = 1
        summary.fetched = 1
        summary.conflictsResolved = 1
        XCTAssertEqual(answers, [.summary(summary)])
    }

    func testSyncFailsWithTheErrorOfItsFetch() {
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        let error = CloudError(.networkUnavailable)
        XCTAssertEqual(
            machine.run(.response(request.id, .failure(error))).answers,
            [.failed(.cloud(error))]
        )
    }

    func testSyncFailsWithTheErrorOfItsSend() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        let error = CloudError(.networkFailure)
        XCTAssertEqual(machine.failSend(error).answers, [.failed(.cloud(error))])
    }

    func testSyncReturnsWhenAnItemFailsTemporarily() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        var summary = SyncSummary()
        summary.pending = 1
        let actions = machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
        XCTAssertEqual(actions.answers, [.summary(summary)])
    }

    /// One item waits for its retry; the other has not been tried yet.
    func testSyncReturnsOnlyAfterEveryItemWasTried() {
        machine = .synced { configuration in
            configuration.maximumItems = 1
            configuration.automaticallySyncs = true
        }
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.upload("B", 2)
        machine.restart()
        machine.run(.calls(.sync(machine.newCall(), .send)))
        let first = machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
        XCTAssertEqual(first.requests, ["send B=2@-"])
        XCTAssertEqual(first.answers, [])
        XCTAssertEqual(machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }.answers.count, 1)
    }

    func testSyncIgnoresTheEnginesOwnBackoff() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        machine.failSend(CloudError(.serviceUnavailable))
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), .send))).requests, ["send A=1@-"])
    }

    func testSyncFailsDuringTheServersRetryAfter() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        let until = machine.now.wall.addingTimeInterval(30)
        let failed = machine.failSend(CloudError(.requestRateLimited, retryAfter: .seconds(30)))
        XCTAssertEqual(failed.answers.count, 1)
        XCTAssertEqual(
            machine.run(.calls(.sync(machine.newCall(), .send))).answers,
            [.failed(.waiting(until: until))]
        )
        machine.advance(by: .seconds(31))
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), .send))).requests, ["send A=1@-"])
    }

    func testStopAnswersEveryCaller() {
        machine.run(.calls(.sync(machine.newCall(), .fetch)))
        machine.run(.calls(.sync(machine.newCall(), .fetch)))
        XCTAssertEqual(machine.run(.calls(.stop)).answers, [.failed(.stopped), .failed(.stopped)])
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), .fetch))).answers, [.failed(.stopped)])
    }

    func testAbandonedCallIsNotAnswered() {
        let call = machine.newCall()
        machine.run(.calls(.sync(call, .fetch)))
        machine.run(.calls(.abandoned(call)))
        XCTAssertEqual(machine.answerFetch(token: "1").answers, [])
    }

    func testSyncWithoutAUserFails() {
        machine.run(.signal(.accountChanged))
        machine.run(.calls(.sync(machine.newCall(), .fetch)))
        let gone = CloudAccount(status: .noAccount, userRecordName: nil)
        let actions = machine.run(.response(machine.setupRequest ?? 0, .success(.account(gone))))
        XCTAssertEqual(actions.answers, [.failed(.cloud(CloudError(.notAuthenticated)))])
    }

    func testSyncAfterAPurgeAsksForADecision() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        XCTAssertEqual(
            machine.failSend(CloudError(.userDeletedZone)).answers,
            [.failed(.waitingForDecision)]
        )
    }
}
