import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Handing changes to loops of the app, and what counts as taken.
final class MachineStreamTests: MachineTestCase {
    /// FD-12.
    func testStreamGetsWhatCameBeforeIt() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        XCTAssertEqual(
            machine.run(.streamRequested(1)).deliveries,
            [[item("A", updated: 1), item("B", updated: 2)]]
        )
    }

    /// FD-10, FD-11.
    func testOnlyWhatIsAcceptedIsNotDeliveredAgain() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamRequested(1))
        var crashed = MachineHarness(state: machine.state)
        XCTAssertEqual(crashed.run(.streamRequested(1)).delivered, [item("A", updated: 1)])
        crashed.run(.streamRequested(1))
        var restarted = MachineHarness(state: crashed.state)
        XCTAssertEqual(restarted.run(.streamRequested(1)).delivered, [])
        XCTAssertEqual(restarted.state["A"]?.seen, 1)
    }

    /// FD-13.
    func testStreamThatEndsHasNotAcceptedItsElement() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamRequested(1))
        XCTAssertEqual(machine.run(.streamEnded(1)).entries, [])
        XCTAssertEqual(machine.run(.streamRequested(2)).delivered, [item("A", updated: 1)])
    }

    /// FD-13: the disk may be slower than the app.
    func testNextStreamDoesNotGetWhatIsBeingAccepted() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamRequested(1))
        machine.feed(.streamRequested(1))
        machine.feed(.streamEnded(1))
        XCTAssertEqual(machine.feed(.streamRequested(2)).delivered, [])
        XCTAssertEqual(machine.commitAll().delivered, [])
        XCTAssertEqual(machine.fetch([.init("A", 2)], token: "2").delivered, [item("A", updated: 2)])
    }

    func testElementsAreOfOneKindAndOfTwoHundredAtMost() {
        machine.fetch((0..<250).map { .init("N\($0)", UInt64($0) + 1) }, token: "1")
        machine.fetch(deletions: ["N0"], token: "2")
        let first = machine.run(.streamRequested(1)).deliveries
        XCTAssertEqual(first.map(\.count), [200])
        XCTAssertEqual(machine.run(.streamRequested(1)).deliveries.map(\.count), [49])
        XCTAssertEqual(machine.run(.streamRequested(1)).deliveries, [[item(deleted: "N0")]])
        XCTAssertEqual(machine.run(.streamRequested(1)).deliveries, [])
    }

    func testChangesOfOneRecordAreCoalescedToTheNewest() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.fetch([.init("A", 2)], token: "2")
        XCTAssertEqual(machine.run(.streamRequested(1)).delivered, [item("A", updated: 2)])
        machine.fetch(deletions: ["A"], token: "3")
        XCTAssertEqual(machine.run(.streamRequested(1)).delivered, [item(deleted: "A")])
    }

    func testRenewedWhileHandedOutIsDeliveredOnceMore() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 2)], token: "2")
        let next = machine.run(.streamRequested(1))
        XCTAssertEqual(next.delivered, [item("A", updated: 2)])
        XCTAssertNotNil(machine.state["A"]?.undelivered)
        machine.run(.streamRequested(1))
        XCTAssertNil(machine.state["A"]?.undelivered)
        XCTAssertEqual(machine.state["A"]?.seen, 2)
    }

    /// The acceptance of the former is on its way to the disk when the record is renewed.
    func testRenewedWhileTheAcceptanceIsStoredIsDelivered() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamRequested(1))
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        machine.feed(.streamRequested(1))
        var page = FetchedPage(token: .init("2"), moreComing: false)
        page.records = [.init("A", 2)]
        machine.feed(.fetched(request.id, .success(page)))
        XCTAssertEqual(machine.commitAll().delivered, [item("A", updated: 2)])
    }

    /// A loop that has edited what is in its hands asks for more while it is being stored that the edit is saved.
    func testWhatIsTakenLateHidesNoUploadThatWasSavedMeanwhile() {
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(machine.reading("A"))
        machine.upload("A", 2)
        XCTAssertEqual(takeLate(saved: 2, as: 10).map(\.seen), [1])
    }

    func testADeletionThatIsTakenLateHidesNoUploadThatWasSavedMeanwhile() {
        machine.know("A", 1)
        machine.run(.streamRequested(1))
        XCTAssertEqual(machine.fetch(deletions: ["A"], token: "2").delivered, [item(deleted: "A")])
        machine.run(machine.reading("A"))
        machine.upload("A", 3)
        XCTAssertEqual(takeLate(saved: 3, as: 10).map(\.seen), [nil])
    }

    /// What the stream takes behind the confirmation; the next edit is made on this device's own all the same.
    private func takeLate(saved handle: ContentHandle, as version: UInt64) -> [AcceptedChange] {
        let result = SendResult(name: "A", handle: handle, outcome: .saved(KnownVersion(version)))
        machine.feed(.sent(machine.sendRequest?.id ?? 0, .success([result])))
        let taken = machine.feed(.streamRequested(1)).entries
        XCTAssertEqual(machine.commitAll().delivered, [item("A", saved: version)])
        XCTAssertEqual(machine.state["A"]?.seen, ContentHandle(version))
        let edit = machine.upload("A", 99)
        XCTAssertEqual(edit.conflicts, [])
        XCTAssertEqual(edit.requests, ["send A=99@t\(version)"])
        guard case .accepted(let changes)? = taken.first else { return [] }
        return changes
    }

    func testTwoStreamsBothGetEverythingAndBothMustAccept() {
        machine.run(.streamRequested(1))
        machine.run(.streamRequested(2))
        XCTAssertEqual(machine.fetch([.init("A", 1)], token: "1").deliveries.count, 2)
        XCTAssertEqual(machine.run(.streamRequested(1)).entries, [])
        XCTAssertNotNil(machine.state["A"]?.undelivered)
        XCTAssertEqual(machine.run(.streamRequested(2)).entries.count, 1)
        XCTAssertNil(machine.state["A"]?.undelivered)
    }

    /// What both have taken has been seen, also where a newer version waits for one of them, or for both.
    func testAVersionThatBothStreamsHaveTakenHasBeenSeenAlthoughANewerOneWaits() {
        machine.know("A", 1)
        machine.run(.streamRequested(1))
        machine.run(.streamRequested(2))
        machine.fetch([.init("A", 2)], token: "2")
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 3)], token: "3")
        XCTAssertEqual(machine.state["A"]?.seen, 1, "the second has still to take it")
        machine.run(.streamRequested(2))
        XCTAssertEqual(machine.state["A"]?.seen, 2)
        XCTAssertEqual(machine.state["A"]?.undelivered?.kind, .updated(3))
        for stream: StreamID in [1, 2] { machine.run(.streamRequested(stream)) }
        XCTAssertEqual(machine.state["A"]?.seen, 3)
        XCTAssertNil(machine.state["A"]?.undelivered)
        XCTAssertTrue(machine.machine.streams.allSatisfy(\.taken.isEmpty))
    }

    /// The one that has not been told of a version keeps it from counting as seen by all.
    func testAVersionThatOneStreamHasSkippedIsNotSeenByAll() {
        machine.know("A", 1)
        machine.know("B", 2)
        machine.run(.streamRequested(1))
        machine.run(.streamRequested(2))
        machine.fetch([.init("B", 3)], token: "3")
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 4)], token: "4")
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 5)], token: "5")
        for _ in 0..<2 { machine.run(.streamRequested(2)) }
        XCTAssertEqual(machine.state["A"]?.seen, 1)
        XCTAssertNotNil(machine.state["A"]?.undelivered, "the first has taken a former version only")
        machine.run(.streamRequested(1))
        XCTAssertEqual(machine.state["A"]?.seen, 5)
        XCTAssertNil(machine.state["A"]?.undelivered)
    }

    func testEndOfTheSlowerStreamAcceptsWhatTheOtherHasTaken() {
        machine.run(.streamRequested(1))
        machine.run(.streamRequested(2))
        machine.fetch([.init("A", 1)], token: "1")
        machine.fetch([.init("B", 2)], token: "2")
        machine.run(.streamRequested(1))
        machine.run(.streamRequested(1))
        XCTAssertNotNil(machine.state["A"]?.undelivered)
        machine.run(.streamEnded(2))
        XCTAssertNil(machine.state["A"]?.undelivered)
        XCTAssertNil(machine.state["B"]?.undelivered)
    }

    func testEndOfTheSlowerStreamDoesNotAcceptWhatTheOtherHolds() {
        machine.run(.streamRequested(1))
        machine.run(.streamRequested(2))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamEnded(2))
        XCTAssertNotNil(machine.state["A"]?.undelivered)
    }

    /// FD-17, I-30.
    func testUndecodableChangeIsPassedOverAndKept() {
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.undecodable(1, [.init(name: "A", reason: "no")], isEmpty: false))
        machine.run(.streamRequested(1))
        XCTAssertNotNil(machine.state["A"]?.undelivered)
        XCTAssertNil(machine.state["B"]?.undelivered)
        let next = machine.fetch([.init("C", 3)], token: "2")
        XCTAssertEqual(next.delivered, [item("C", updated: 3)])
        var restarted = MachineHarness(state: machine.state)
        let retried = (0..<3).flatMap { _ in restarted.run(.streamRequested(1)).delivered.map(\.name) }
        XCTAssertEqual(Set(retried), ["A", "C"])
    }

    func testElementWithNothingDecodableIsReplacedByTheNext() {
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.undecodable(1, [.init(name: "A", reason: "no")], isEmpty: true))
        XCTAssertEqual(machine.fetch([.init("B", 2)], token: "2").delivered, [item("B", updated: 2)])
    }

    /// The end of another stream does not accept what nobody could decode.
    func testUndecodableChangeIsKeptWhenAnotherStreamEnds() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamRequested(1))
        machine.run(.undecodable(1, [.init(name: "A", reason: "no")], isEmpty: true))
        machine.run(.streamRequested(2))
        machine.run(.undecodable(2, [.init(name: "A", reason: "no")], isEmpty: true))
        machine.fetch([.init("B", 2)], token: "2")
        machine.run(.streamEnded(2))
        XCTAssertNotNil(machine.state["A"]?.undelivered)
    }

    func testUndeliveredChangesAreNotKeptIfTheAppSaysSo() {
        machine = .synced { $0.keepsUndelivered = false }
        machine.fetch([.init("A", 1)], token: "1")
        XCTAssertNil(machine.state["A"]?.undelivered)
        XCTAssertNil(machine.state["A"]?.seen, "nobody has seen it")
        machine.run(.streamRequested(1))
        XCTAssertEqual(machine.fetch([.init("B", 2)], token: "2").delivered, [item("B", updated: 2)])
        machine.run(.streamEnded(1))
        XCTAssertNil(machine.state["B"]?.undelivered)
    }

    /// The app reads the record while it is being stored that nobody has taken it.
    func testWhatIsReadWhileItIsAcceptedUnseenIsTheAncestorOfTheNextEdit() {
        machine = .synced { $0.keepsUndelivered = false }
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        var page = FetchedPage(token: .init("1"), moreComing: false)
        page.records = [.init("A", 1)]
        machine.feed(.fetched(request.id, .success(page)))
        machine.commitNext()
        machine.feed(machine.reading("A"))
        machine.commitAll()
        machine.fetch([.init("A", 2)], token: "2")
        XCTAssertEqual(machine.upload("A", 3).conflicts.map(\.ancestor), [1])
    }

    /// An edit is based on what was accepted, not on what only was fetched.
    func testEditIsBasedOnTheAcceptedVersion() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamRequested(1))
        machine.feed(.streamRequested(1))
        machine.feed(.enqueue(machine.newCall(), [.save("A", 2)]))
        XCTAssertEqual(machine.commitAll().requests, ["send A=2@t1"])
        var other = MachineHarness.synced()
        other.fetch([.init("A", 1)], token: "1")
        other.run(.streamRequested(1))
        XCTAssertEqual(other.upload("A", 2).conflicts.map(\.ancestor), [nil])
    }

    func testElementOfATouchedRecordIsAcceptedAsItsNewestVersion() {
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 1)], token: "1")
        machine.fetch([.init("A", 5, hash: 1)], token: "2")
        machine.run(.streamRequested(1))
        XCTAssertEqual(machine.upload("A", 6).conflicts, [])
        XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [6])
    }
}
