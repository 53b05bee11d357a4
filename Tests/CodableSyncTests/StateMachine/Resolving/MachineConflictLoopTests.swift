import RecordCoding
import XCTest

@testable import CodableSync

/// I-21: servers that answer a change with a conflict forever, without involving the resolver.
final class MachineConflictLoopTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
    }

    func testARecordThatIsAlwaysTouchedIsSentWithPauses() {
        machine.upload("A", 2)
        for round in 1...9 {
            let version = KnownVersion(UInt64(10 + round), hash: 1)
            let actions = machine.answerSend { _ in .conflict(server: version) }
            check(actions, round, next: "send A=2@t\(10 + round)")
        }
        XCTAssertEqual(machine.fireNext().requests, ["send A=2@t19"])
        saveAll(from: 30)
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    func testADeletionThatIsAlwaysRejectedIsSentWithPauses() {
        machine.delete("A")
        for round in 1...9 {
            let actions = machine.answerSend { _ in .conflict(server: KnownVersion(UInt64(10 + round))) }
            check(actions, round, next: "send A=delete@t\(10 + round)")
        }
        XCTAssertEqual(machine.fireNext().requests, ["send A=delete@t19"])
    }

    func testARepeatedConflictWithAnOlderVersionIsLookedUpWithPauses() {
        machine.know("A", 5)
        machine.upload("A", 6)
        for round in 1...9 {
            XCTAssertEqual(
                machine.answerSend { _ in .conflict(server: KnownVersion(3)) }.requests,
                ["lookUp A"]
            )
            check(lookedUp(KnownVersion(5)), round, next: "send A=6@t5", isTold: false)
        }
        XCTAssertEqual(machine.fireNext().requests, ["send A=6@t5"])
    }

    func testARepeatedConflictWithATouchedRecordIsSentWithPauses() {
        machine.upload("A", 2)
        for round in 1...9 {
            XCTAssertEqual(machine.answerSend { _ in .conflict(server: nil) }.requests, ["lookUp A"])
            let actions = lookedUp(KnownVersion(UInt64(10 + round), hash: 1))
            check(actions, round, next: "send A=2@t\(10 + round)")
        }
        XCTAssertEqual(machine.fireNext().requests, ["send A=2@t19"])
    }

    /// A successful save resets the count.
    func testOnlyConsecutiveConflictsCount() {
        for round in 1...20 {
            machine.upload("A", UInt64(10_000 + round))
            let touched = KnownVersion(UInt64(200 * round), hash: machine.state["A"]?.known?.hash)
            machine.answerSend { _ in .conflict(server: touched) }
            XCTAssertNotNil(machine.sendRequest, "\(round)")
            saveAll(from: UInt64(200 * round + 1))
        }
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// A discarded change takes its conflicts with it.
    func testTheConflictsOfADiscardedChangeDoNotCount() {
        machine.upload("A", 2)
        for round in 1...8 {
            machine.answerSend { _ in .conflict(server: KnownVersion(UInt64(10 + round), hash: 1)) }
        }
        machine.answerSend { _ in .conflict(server: nil) }
        machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        _ = lookedUp(KnownVersion(30, hash: 1))
        XCTAssertEqual(machine.upload("A", 50).requests, ["send A=50@t30"])
        let actions = machine.answerSend { _ in .conflict(server: KnownVersion(60, hash: 1)) }
        XCTAssertEqual(actions.requests, ["send A=50@t60"])
    }

    private func check(_ actions: [SyncAction], _ round: Int, next: String, isTold: Bool = true) {
        XCTAssertEqual(actions.requests, round < 9 ? [next] : [], "round \(round)")
        let loops = actions.events.filter { $0 == .conflictLoop(recordName: "A") }
        if isTold { XCTAssertEqual(loops.count, round < 9 ? 0 : 1, "round \(round)") }
        XCTAssertEqual(actions.conflicts, [], "no conflict for the resolver")
    }

    private func lookedUp(_ version: KnownVersion) -> [SyncAction] {
        guard let request = machine.lookUpRequest else { return [] }
        return machine.run(
            .response(request.id, .success(.records([LookedUp(name: "A", result: .success(version))])))
        )
    }
}
