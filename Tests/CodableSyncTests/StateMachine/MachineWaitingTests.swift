import XCTest

@testable import CodableSync

/// Callers of `sync` are answered, whatever fails on the way.
final class MachineWaitingTests: MachineTestCase {
    func testALookUpThatFailsForOneRecordDoesNotHoldTheCallerUp() throws {
        machine.run(.sync(machine.newCall(), [.fetch, .send]))
        machine.answerFetch(failed: ["A"], token: "1")
        let request = try XCTUnwrap(machine.lookUpRequest)
        let failed = LookedUp(name: "A", result: .failure(CloudError(.networkFailure)))
        let answers = machine.run(.lookedUp(request.id, .success([failed]))).answers
        XCTAssertEqual(answers.count, 1)
        XCTAssertEqual(machine.fireNext().requests, ["lookUp A"])
    }

    func testADeferredChangeThatIsGivenUpDoesNotHoldAnotherOneBack() {
        machine.upload("A", 1)
        machine.answerSend { _ in .failed(CloudError(.networkFailure)) }
        machine.run(.discard(machine.newCall(), names: ["A"]))
        XCTAssertEqual(machine.upload("B", 2).requests, ["send B=2@-"])
    }
}
