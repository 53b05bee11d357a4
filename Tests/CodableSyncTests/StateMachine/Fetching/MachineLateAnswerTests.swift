import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Answers that are older than the known version of a record.
final class MachineLateAnswerTests: MachineTestCase {
    /// I-43: the conflict returns a version older than the one that the save was based on: the record is
    /// looked up.
    func testAConflictWithAnOlderVersionIsLookedUp() {
        machine.know("A", 5)
        machine.upload("A", 20)
        let answered = machine.answerSend { _ in .conflict(server: KnownVersion(4)) }
        XCTAssertEqual(answered.requests, ["lookUp A"])
        guard let request = machine.lookUpRequest?.id else { return XCTFail("no look-up request") }
        machine.run(
            .response(request, .success(.records([LookedUp(name: "A", result: .success(KnownVersion(6)))])))
        )
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t6")
    }

    /// I-01: a save was applied but not answered; the app reads another device's later version and edits it.
    func testALateAnswerDoesNotChangeTheBaseOfAnEdit() {
        machine.upload("A", 2)
        guard let send = machine.sendRequest?.id else { return XCTFail("no send request") }
        machine.missDeadline(send)
        machine.fetch([.init("A", 8)], token: "2")
        machine.resolve { _ in .server }
        let late = SendResult(name: "A", handle: 2, outcome: .saved(KnownVersion(7)))
        XCTAssertEqual(machine.run(.response(send, .success(.sendResults([late])))), [])
        machine.upload("A", 10)
        machine.fireNext { $0 == .sendRetry }
        XCTAssertEqual(machine.sendRequest?.items.map(\.known?.changeTag), ["t8"])
    }

    /// I-01: the page shows this device's own save.
    func testTheEchoOfASaveIsNoNewVersion() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.upload("A", 2)
        saveAll(from: 3)
        var echo = KnownVersion(3)
        echo.handle = 4
        machine.fetch([FetchedRecord(name: "A", version: echo)], token: "2")
        XCTAssertEqual(machine.upload("A", 5).requests, ["send A=5@t3"])
    }

    // MARK: Deletions

    /// I-30: the server rejected the deletion, not the edit made since.
    func testARejectedDeletionDoesNotParkALaterEdit() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 7)
        let actions = machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertEqual(actions.requests, ["send A=7@t1"])
        XCTAssertNil(machine.state["A"]?.pending?.parked)
    }
}
