import RecordCoding
import XCTest

@testable import CodableSync

/// A process ends while it handles changes: a record that crashes the app holds up no others.
final class MachineCrashTests: MachineTestCase {
    private func names(_ range: Range<Int>) -> [String] { range.map { "N\($0)" } }

    private func fetch(_ range: Range<Int>, token: String) {
        machine.fetch(range.map { .init("N\($0)", UInt64($0) + 1) }, token: token)
    }

    /// The next process, which starts with the state that the previous one stored.
    private func restarted() -> MachineHarness { MachineHarness(state: machine.state) }

    // I-25
    func testAnElementIsNotedBeforeItIsDelivered() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        let asked = machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(asked.lines.first?.summary?.isFollowed, true)
        XCTAssertEqual(asked.lines.last, .streams(.held(["A", "B"], replay: .everything(after: nil))))
        guard case .store? = asked.first else { return XCTFail("\(asked)") }
        XCTAssertEqual(asked.deliveries, [[item("A", updated: 1), item("B", updated: 2)]])
    }

    func testHandingOutAnElementWritesOneRowThatNamesItsRecords() {
        fetch(0..<1000, token: "1")
        for element in 0..<5 {
            let asked = machine.run(.delivery(.streamRequested(1)))
            let rows = asked.lines.filter { if case .streams = $0 { true } else { false } }
            XCTAssertEqual(asked.lines.suffix(1), rows, "element \(element)")
            XCTAssertEqual(machine.state.streams.elements.map(\.keys.count), [200])
            XCTAssertLessThan(rows.first.map { JournalLine.make($0).count } ?? .max, 2600)
        }
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertTrue(machine.state.streams.holdsNothing, "acceptance clears it")
    }

    /// Another loop has not accepted it yet.
    func testAnElementThatTwoStreamsHoldIsSuspectUntilBothHaveAcceptedIt() {
        fetch(0..<2, token: "1")
        for stream in [1, 2] as [StreamID] { machine.run(.delivery(.streamRequested(stream))) }
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.state.streams.elements.map(\.stream), [2])
        XCTAssertEqual(machine.state.streams.allSuspects, ["N0", "N1"])
        machine.run(.delivery(.streamRequested(2)))
        XCTAssertTrue(machine.state.streams.holdsNothing)
    }

    /// Streams have the same numbers in each process.
    func testARecordThatTheNextProcessHasAcceptedIsNoSuspect() {
        fetch(0..<1, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine = restarted()
        machine.goOnline()
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered.map(\.name), ["N0"])
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.fetch([.init("N5", 9)], token: "2").delivered.map(\.name), ["N5"])
        XCTAssertEqual(machine.state.streams.allSuspects, ["N5"])
    }

    /// A slower loop accepts what the quicker one holds a newer version of.
    func testAcceptingAnOlderChangeLeavesTheNewerOneSuspect() {
        fetch(0..<1, token: "1")
        for stream in [1, 2] as [StreamID] { machine.run(.delivery(.streamRequested(stream))) }
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("N0", 9)], token: "2")
        machine.run(.delivery(.streamRequested(2)))
        XCTAssertTrue(machine.state.streams.elements.contains { $0.stream == 1 && $0.keys == ["N0"] })
    }

    func testARemovedRecordIsNotHeld() {
        machine = .synced { $0.removesOnSignOut = true }
        fetch(0..<2, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamEnded(1)))
        XCTAssertFalse(machine.state.streams.holdsNothing)
        var state = machine.state
        state.apply(.signedOut(removing: true))
        XCTAssertTrue(DeliveryTrouble(state).suspects.isEmpty)
    }

    /// The loop may have thrown over it; the app gets it alone if it is ended now, until it has accepted it.
    func testWhatALoopHeldWhenItEndedIsSuspectUntilItIsAccepted() {
        fetch(0..<2, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamEnded(1)))
        XCTAssertEqual(machine.state.streams.allSuspects, ["N0", "N1"])
        machine.run(.delivery(.streamRequested(2)))
        machine.run(.delivery(.streamRequested(2)))
        XCTAssertTrue(machine.state.streams.holdsNothing)
    }

    func testAFullDiskDoesNotHoldBackElements() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.feed(.delivery(.streamRequested(1)))
        let failed = machine.failNextCommit()
        XCTAssertEqual(failed.delivered, [item("A", updated: 1)])
        XCTAssertEqual(failed.events, [.storageFailed("full")])
    }

    /// CR-11.
    func testChangesOfACrashedProcessAreDeliveredLastAndOneAtATime() {
        fetch(0..<3, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        fetch(10..<14, token: "2")
        var next = restarted()
        var elements: [[String]] = []
        for _ in 0..<5 {
            elements += next.run(.delivery(.streamRequested(1))).deliveries.map { $0.map(\.name) }
        }
        XCTAssertEqual(elements, [names(10..<14), ["N0"], ["N1"], ["N2"]])
        next.run(.delivery(.streamRequested(1)))
        XCTAssertTrue(next.state.streams.holdsNothing)
        XCTAssertTrue(next.state.untold.isEmpty)
    }

    /// CR-11: changes delivered alone but not accepted come last.
    func testChangesNotAcceptedAloneComeLastWithTheLatestAtTheEnd() {
        fetch(0..<4, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        // The app crashes on N0, then on N1, then on N2.
        for dead in 0..<3 {
            machine = restarted()
            XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered.map(\.name), ["N\(dead)"])
        }
        machine = restarted()
        let order = (0..<4).flatMap { _ in machine.run(.delivery(.streamRequested(1))).delivered.map(\.name) }
        XCTAssertEqual(order, ["N3", "N0", "N1", "N2"])
    }

    /// CR-11: the app crashes whenever it receives one of two records, and is restarted each time.
    func testAnAppThatCrashesOnTwoRecordsGetsAllOthers() {
        let deadly: Set = ["N7", "N230"]
        fetch(0..<450, token: "1")
        var accepted: Set<String> = []
        var fruitless = 0
        var dying: [String] = []
        for start in 0..<40 {
            machine = restarted()
            var gained = 0
            while true {
                let element = machine.run(.delivery(.streamRequested(1))).delivered.map(\.name)
                if element.isEmpty { return XCTFail("no element was delivered in start \(start)") }
                if let reason = element.first(where: { deadly.contains($0) }) {
                    // The app crashes while it handles the element.
                    dying.append(element.count == 1 ? reason : "-")
                    break
                }
                // The app accepts the element by requesting the next one.
                gained += Set(element).subtracting(accepted).count
                accepted.formUnion(element)
            }
            if gained == 0 { fruitless += 1 } else { fruitless = 0 }
            if accepted.count < 448 {
                XCTAssertLessThanOrEqual(fruitless, 2, "no progress in start \(start)")
            }
        }
        XCTAssertEqual(accepted, Set(names(0..<450)).subtracting(deadly))
        XCTAssertEqual(Set(machine.state.untoldNames), deadly)
        // Both are still delivered, in turn.
        XCTAssertEqual(Set(dying.suffix(4)), deadly)
        XCTAssertNotEqual(dying[dying.count - 1], dying[dying.count - 2])
        // A version of the app that can handle them receives both.
        machine = restarted()
        for _ in 0..<3 { machine.run(.delivery(.streamRequested(1))) }
        XCTAssertTrue(machine.state.untold.isEmpty)
        XCTAssertTrue(machine.state.streams.holdsNothing)
    }

    func testLeavingALoopIsNotACrash() {
        fetch(0..<3, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamEnded(1)))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(2))).deliveries.map(\.count), [3])
    }

    func testASuspectStaysASuspectInANewVersion() {
        fetch(0..<2, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("N0", 10)], token: "2")
        machine = restarted()
        machine.goOnline()
        machine.fetch([.init("N0", 11), .init("N5", 12)], token: "3")
        machine = restarted()
        machine.fetch([.init("N0", 13)], token: "4")
        let order = (0..<3).map { _ in machine.run(.delivery(.streamRequested(1))).delivered.map(\.name) }
        XCTAssertEqual(order, [["N5"], ["N0"], ["N1"]])
    }

    func testAChangeThatNeedsNoDeliveryIsNoSuspect() {
        fetch(0..<2, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("N0", 50)
        machine.resolve { _ in .client }
        saveAll(from: 60)
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertTrue(machine.state.streams.holdsNothing)
    }
}
