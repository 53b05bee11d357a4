import XCTest

@testable import CodableSync

/// Calls to `sync` return, whatever fails meanwhile.
final class MachineWaitingTests: MachineTestCase {
    func testAFailedLookUpOfOneRecordDoesNotHoldUpTheCaller() throws {
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        machine.answerFetch(failed: ["A"], token: "1")
        let request = try XCTUnwrap(machine.lookUpRequest)
        let failed = LookedUp(name: "A", result: .failure(CloudError(.networkFailure)))
        let answers = machine.run(.response(request.id, .success(.records([failed])))).answers
        XCTAssertEqual(answers.count, 1)
        XCTAssertEqual(machine.fireNext().requests, ["lookUp A"])
    }

    /// A call that only fetches doesn't fail because a send fails.
    func testAFailedSendDoesNotFailAFetchOnlyCall() {
        for code in [CloudError.Code.networkFailure, .zoneNotFound] {
            machine = .synced()
            machine.upload("A", 1)
            machine.run(.calls(.sync(machine.newCall(), [.fetch])))
            XCTAssertEqual(machine.failSend(CloudError(code)).answers, [], "\(code)")
        }
    }

    /// The call's own fetch has ended; the failed one was started by another signal.
    func testALaterFailedFetchDoesNotFailACallWaitingToSend() throws {
        machine = .synced { $0.maximumItems = 1 }
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.upload("B", 2)
        machine.upload("C", 3)
        machine.upload("D", 4)
        machine.restart()
        saveAll(from: 10)
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        saveAll(from: 11)
        machine.answerFetch(token: "2")
        machine.run(.signal(.changes(in: nil)))
        XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["C"])
        saveAll(from: 12)
        let request = try XCTUnwrap(machine.fetchRequest)
        let failed = machine.run(.response(request.id, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(failed.answers, [])
        let answers = saveAll(from: 13).answers
        guard case .summary(let summary)? = answers.first else { return XCTFail("\(answers)") }
        XCTAssertEqual(summary.sent, 3)
    }

    func testADiscardedDeferredChangeDoesNotHoldBackAnother() {
        machine.upload("A", 1)
        machine.answerSend { _ in .failed(CloudError(.networkFailure)) }
        machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertEqual(machine.upload("B", 2).requests, ["send B=2@-"])
    }

    // MARK: Changes made after the call

    /// An app that uploads at every answer does not keep an earlier call waiting.
    func testASyncDoesNotWaitForLaterChanges() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        machine.upload("B", 2)
        let actions = saveAll(from: 10)
        XCTAssertEqual(actions.requests, ["send B=2@-"])
        XCTAssertEqual(actions.answers.count, 1)
    }

    func testASyncDoesNotWaitForALaterEditOfTheRecordInFlight() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        XCTAssertEqual(machine.upload("A", 2).answers, [.done], "the first edit is in flight")
        let actions = saveAll(from: 10)
        XCTAssertEqual(actions.requests, ["send A=2@t10"])
        XCTAssertEqual(actions.answers.count, 1)
    }

    func testASyncWaitsForAnEarlierEditOfTheRecordInFlight() {
        machine.upload("A", 1)
        machine.upload("A", 2)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        let actions = saveAll(from: 10)
        XCTAssertEqual(actions.requests, ["send A=2@t10"])
        XCTAssertEqual(actions.answers, [])
        XCTAssertEqual(saveAll(from: 11).answers.count, 1)
    }

    /// What the call's own work queues is sent before it ends.
    func testASyncWaitsForAMergeOfItsOwnChange() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        XCTAssertEqual(machine.answerSend { _ in .conflict(server: KnownVersion(3)) }.answers, [])
        let actions = machine.resolve { _ in .merged(4, size: 100, edited: nil) }
        XCTAssertEqual(actions.requests, ["send A=4@t3"])
        XCTAssertEqual(actions.answers, [])
        XCTAssertEqual(saveAll(from: 5).answers.count, 1)
    }

    /// Other runs' ends do not make a call that sends wait for later changes.
    func testAnotherFetchDoesNotMakeASyncWaitForLaterChanges() {
        machine = .synced { $0.maximumItems = 1 }
        machine.upload("A", 1)
        machine.upload("B", 2)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        machine.run(.signal(.changes(in: nil)))
        saveAll(from: 10)
        machine.upload("C", 3)
        XCTAssertEqual(machine.answerFetch(token: "2").requests, ["send B=2@-"])
        let actions = saveAll(from: 11)
        XCTAssertEqual(actions.requests, ["send C=3@-"])
        XCTAssertEqual(actions.answers.count, 1)
    }

    // MARK: Look-ups that are tried later

    /// A change is not sent while its record is looked up, also while the look-up waits for its next attempt.
    func testASyncReturnsBeforeALookUpIsTriedAgain() throws {
        machine.know("B", 1)
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "2")
        machine.upload("B", 9)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        let failed = [LookedUp(name: "A", result: .failure(CloudError(.serviceUnavailable)))]
        machine.run(.response(try XCTUnwrap(machine.lookUpRequest).id, .success(.records(failed))))
        XCTAssertEqual(machine.upload("A", 5).requests, [], "its record is looked up first")
        machine.answerSend { _ in .conflict(server: KnownVersion(3)) }
        XCTAssertEqual(machine.resolve { _ in .client }.requests, ["send B=9@t3"])
        let actions = machine.answerSend { _ in .saved(KnownVersion(4)) }
        XCTAssertNotNil(machine.timers[.lookUpRetry])
        XCTAssertEqual(actions.answers.count, 1, "the sync has ended")
        machine.fireNext { $0 == .lookUpRetry }
        XCTAssertEqual(machine.lookUpRequest?.names, ["A"])
    }

    /// One change waits for its look-up, and one was not tried yet because a page is in flight.
    func testASyncWaitsForAChangeBehindOneWhoseRecordIsLookedUp() throws {
        machine = .synced { $0.maximumItems = 1 }
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "2")
        for (name, handle) in [("A", 5), ("B", 6), ("C", 7)] as [(String, UInt64)] {
            machine.upload(name, handle)
        }
        machine.run(.calls(.sync(machine.newCall(), .send)))
        try failLookUp(of: "A")
        XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["B"])
        machine.run(.signal(.changes(in: nil)))
        XCTAssertEqual(saveAll(from: 10).answers, [])
        XCTAssertNil(machine.sendRequest, "the page is in flight")
        XCTAssertEqual(machine.answerFetch(token: "3").answers, [])
        XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["C"])
        XCTAssertEqual(saveAll(from: 11).answers.count, 1)
    }

    func testASyncReturnsWhenOneChangeIsDeferredAndOneIsLookedUp() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "2")
        machine.upload("A", 5)
        machine.upload("B", 6)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        try failLookUp(of: "A")
        let actions = machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
        let answers = actions.answers
        guard case .summary(let summary)? = answers.first else { return XCTFail("\(answers)") }
        XCTAssertEqual(summary.pending, 2)
    }

    private func failLookUp(of name: String) throws {
        let failed = [LookedUp(name: name, result: .failure(CloudError(.serviceUnavailable)))]
        machine.run(.response(try XCTUnwrap(machine.lookUpRequest).id, .success(.records(failed))))
    }

    /// It was sent again behind what was queued when the call began.
    func testASyncWaitsForAChangeThatFailedBecauseOfAnother() {
        machine.run(.calls(.enqueue(machine.newCall(), [.save("A", 1), .save("B", 2)])))
        machine.run(.calls(.sync(machine.newCall(), .send)))
        let actions = machine.answerSend {
            .failed(CloudError($0.name == "A" ? .permissionFailure : .batchRequestFailed))
        }
        XCTAssertEqual(actions.requests, ["send B=2@-"])
        XCTAssertEqual(actions.answers, [])
        XCTAssertEqual(saveAll(from: 10).answers.count, 1)
    }
}
