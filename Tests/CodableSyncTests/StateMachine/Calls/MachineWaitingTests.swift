import XCTest

@testable import CodableSync

/// Calls to `sync` return, whatever fails meanwhile.
final class MachineWaitingTests: MachineTestCase {
    func testAFailedLookUpOfOneRecordDoesNotHoldUpTheCaller() throws {
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        machine.answerFetch(failed: ["A"], token: "1")
        let request = try XCTUnwrap(machine.lookUpRequest)
        let failed = LookedUp(name: "A", result: .failure(CloudError(.networkFailure)))
        let answers = machine.run(.records(.lookedUp(request.id, .success([failed])))).answers
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
        let failed = machine.run(.records(.fetched(request.id, .failure(CloudError(.networkFailure)))))
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
}
