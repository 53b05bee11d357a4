import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Answers about an edit that a newer edit has replaced.
final class MachineSupersededTests: MachineTestCase {
    private func refusals() -> [(MachineHarness) -> MachineHarness] {
        let codes: [CloudError.Code] = [.permissionFailure, .limitExceeded, .invalidArguments]
        return codes.flatMap { code in
            [
                { (machine: MachineHarness) in
                    var machine = machine
                    machine.answerSend { _ in .failed(CloudError(code)) }
                    return machine
                },
                { (machine: MachineHarness) in
                    var machine = machine
                    machine.failSend(CloudError(code))
                    return machine
                },
            ]
        }
    }

    /// I-10: the server rejected the earlier edit, not the newer one.
    func testAnEditMadeDuringARejectedUploadIsSentAndNotParked() {
        machine.upload("A", 2)
        let start = machine
        for isStored in [true, false] {
            for refuse in refusals() {
                machine = start
                machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 3)])))
                if isStored { machine.commitAll() }
                machine = refuse(machine)
                XCTAssertTrue(machine.state.parkedQueue.isEmpty)
                XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [3])
                XCTAssertEqual(machine.state.notes, [])
                XCTAssertEqual(machine.faults, [])
            }
        }
    }

    /// I-11: the same for a deletion.
    func testADeletionMadeDuringARejectedUploadIsSentAndNotParked() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.delete("A")
        let actions = machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertEqual(actions.requests, ["send A=delete@t1"])
        XCTAssertTrue(machine.state.parkedQueue.isEmpty)
    }

    /// The resolver runs first: if the edit were parked, reads would show a server version that `changes`
    /// never delivered.
    func testARejectedEditInConflictGoesToTheResolver() {
        machine.know("A", 1)
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("A", 2)
        let start = machine
        for refuse in refusals() {
            machine = start
            machine.failSend(CloudError(.networkFailure))
            machine.fetch([.init("A", 5)], token: "f")
            machine = refuse(machine)
            XCTAssertEqual(machine.conflicts.map(\.client), [2])
            XCTAssertEqual(machine.conflicts.map(\.server), [5])
            XCTAssertTrue(machine.state.parkedQueue.isEmpty)
            XCTAssertEqual(machine.faults, [])
        }
    }

    /// I-09: discarding an edit does not discard a later upload.
    func testAnEditMadeAfterADiscardIsKept() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        let item = machine.conflicts[0]
        machine.feed(.reconciled([Reconciled(item: item, resolution: .client, wasAsked: true)]))
        machine.feed(.calls(.discard(machine.newCall(), names: ["A"])))
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 7)])))
        machine.commitAll()
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 7)
    }
}

extension MachineSupersededTests {
    /// I-36: the server's retry-after for one item delays the requests that other items cause.
    func testARetryAfterForOneItemDelaysRequestsForOthers() {
        machine = MachineHarness()
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.hasFeed = true
        machine.finishSetup()
        machine.answerFetch(token: "0")
        machine.know("A", 1)
        let start = machine
        for names in [["A", "B"], ["B", "A"]] {
            machine = start
            machine.run(
                .calls(.enqueue(machine.newCall(), names.enumerated().map { .save($1, UInt64($0 + 2)) }))
            )
            let wait = CloudError(.requestRateLimited, retryAfter: .seconds(30))
            let actions = machine.answerSend { .failed($0.name == "A" ? CloudError(.unknownItem) : wait) }
            XCTAssertEqual(actions.requests, [])
            XCTAssertEqual(machine.faults, [])
        }
    }
}
