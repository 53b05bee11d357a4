import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Delivering changes to the app's loops, and what counts as accepted.
final class MachineStreamTests: MachineTestCase {
    /// FD-12.
    func testStreamGetsChangesFetchedBeforeIt() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        XCTAssertEqual(
            machine.run(.delivery(.streamRequested(1))).deliveries,
            [[item("A", updated: 1), item("B", updated: 2)]]
        )
    }

    /// FD-10, FD-11.
    func testChangesAreDeliveredAgainUntilAccepted() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        var crashed = MachineHarness(state: machine.state)
        XCTAssertEqual(crashed.run(.delivery(.streamRequested(1))).delivered, [item("A", updated: 1)])
        crashed.run(.delivery(.streamRequested(1)))
        var restarted = MachineHarness(state: crashed.state)
        XCTAssertEqual(restarted.run(.delivery(.streamRequested(1))).delivered, [])
    }

    /// FD-13.
    func testEndingAStreamDoesNotAcceptItsElement() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.run(.delivery(.streamEnded(1))).lines, [])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(2))).delivered, [item("A", updated: 1)])
    }

    /// FD-13: storing the acceptance may take longer than the app needs to start another loop.
    func testNextStreamDoesNotGetAnElementBeingAccepted() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.feed(.delivery(.streamRequested(1)))
        machine.feed(.delivery(.streamEnded(1)))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(2))).delivered, [])
        XCTAssertEqual(machine.commitAll().delivered, [])
        XCTAssertEqual(machine.fetch([.init("A", 2)], token: "2").delivered, [item("A", updated: 2)])
    }

    func testElementsHaveOneKindAndAtMostTwoHundredChanges() {
        machine.run(.delivery(.streamRequested(9)))
        machine.run(.delivery(.streamEnded(9)))
        machine.fetch((0..<250).map { .init("N\($0)", UInt64($0) + 1) }, token: "1")
        machine.fetch(deletions: ["N0"], token: "2")
        let first = machine.run(.delivery(.streamRequested(1))).deliveries
        XCTAssertEqual(first.map(\.count), [200])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).deliveries.map(\.count), [49])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).deliveries, [[item(deleted: "N0")]])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).deliveries, [])
    }

    func testChangesOfOneRecordAreCoalesced() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.fetch([.init("A", 2)], token: "2")
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item("A", updated: 2)])
        machine.fetch(deletions: ["A"], token: "3")
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item(deleted: "A")])
    }

    func testANewVersionDuringHandlingIsDeliveredToo() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 2)], token: "2")
        let next = machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(next.delivered, [item("A", updated: 2)])
        XCTAssertNotNil(machine.state.undelivered("A"))
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertNil(machine.state.undelivered("A"))
    }

    /// The acceptance of the older version is being stored when the new one arrives.
    func testANewVersionDuringAcceptanceIsDelivered() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.feed(.delivery(.streamRequested(1)))
        var page = FetchedPage(token: .init("2"), moreComing: false)
        page.records = [.init("A", 2)]
        machine.feed(.response(request.id, .success(.page(page))))
        XCTAssertEqual(machine.commitAll().delivered, [item("A", updated: 2)])
    }

    /// A loop edits the element that it handles, and accepts it while the save of the edit is being stored.
    func testALateAcceptanceHidesNoUploadSavedMeanwhile() {
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 1)], token: "1")
        machine.upload("A", 2)
        acceptLate(saved: 2, as: 10)
    }

    func testALateAcceptanceOfADeletionHidesNoUploadSavedMeanwhile() {
        machine.know("A", 1)
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.fetch(deletions: ["A"], token: "2").delivered, [item(deleted: "A")])
        machine.upload("A", 3)
        machine.resolve { _ in .client }
        acceptLate(saved: 3, as: 10)
    }

    /// Accepts an element after a save was confirmed, and checks that the next edit is based on that save.
    private func acceptLate(saved handle: ContentHandle, as version: UInt64) {
        let result = SendResult(name: "A", handle: handle, outcome: .saved(KnownVersion(version)))
        machine.feed(.response(machine.sendRequest?.id ?? 0, .success(.sendResults([result]))))
        machine.feed(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.commitAll().delivered, [item("A", saved: version)])
        let edit = machine.upload("A", 99)
        XCTAssertEqual(edit.conflicts, [])
        XCTAssertEqual(edit.requests, ["send A=99@t\(version)"])
    }

    func testTwoStreamsGetEveryChangeAndBothMustAccept() {
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2)))
        XCTAssertEqual(machine.fetch([.init("A", 1)], token: "1").deliveries.count, 2)
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).lines, [.streams(.held(["A"], by: 2))])
        XCTAssertNotNil(machine.state.undelivered("A"))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(2))).lines.count, 1)
        XCTAssertNil(machine.state.undelivered("A"))
    }

    /// A version that both streams accepted is replaced by a newer one, which waits for both.
    func testANewerVersionWaitsForBothStreams() {
        machine.know("A", 1)
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2)))
        machine.fetch([.init("A", 2)], token: "2")
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 3)], token: "3")
        machine.run(.delivery(.streamRequested(2)))
        XCTAssertEqual(machine.state.undelivered("A"), .updated(3))
        for stream: StreamID in [1, 2] { machine.run(.delivery(.streamRequested(stream))) }
        XCTAssertNil(machine.state.undelivered("A"))
    }

    func testAVersionThatOneStreamSkippedIsNotAccepted() {
        machine.know("A", 1)
        machine.know("B", 2)
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2)))
        machine.fetch([.init("B", 3)], token: "3")
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 4)], token: "4")
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 5)], token: "5")
        for _ in 0..<2 { machine.run(.delivery(.streamRequested(2))) }
        XCTAssertNotNil(machine.state.undelivered("A"), "the first stream accepted an older version")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertNil(machine.state.undelivered("A"))
    }

    func testEndOfTheSlowerStreamAcceptsWhatTheOtherHasAccepted() {
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2)))
        machine.fetch([.init("A", 1)], token: "1")
        machine.fetch([.init("B", 2)], token: "2")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertNotNil(machine.state.undelivered("A"))
        machine.run(.delivery(.streamEnded(2)))
        XCTAssertNil(machine.state.undelivered("A"))
        XCTAssertNil(machine.state.undelivered("B"))
    }

    func testEndOfTheSlowerStreamDoesNotAcceptWhatTheOtherHolds() {
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2)))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamEnded(2)))
        XCTAssertNotNil(machine.state.undelivered("A"))
    }

    /// FD-17, I-30.
    func testUndecodableChangeIsSkippedAndKept() {
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.delivery(.undecodable(1, [.init(name: "A", reason: "no")], isEmpty: false)))
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertNotNil(machine.state.undelivered("A"))
        XCTAssertNil(machine.state.undelivered("B"))
        let next = machine.fetch([.init("C", 3)], token: "2")
        XCTAssertEqual(next.delivered, [item("C", updated: 3)])
        var restarted = MachineHarness(state: machine.state)
        let retried = (0..<3).flatMap { _ in
            restarted.run(.delivery(.streamRequested(1))).delivered.map(\.name)
        }
        XCTAssertEqual(Set(retried), ["A", "C"])
    }

    func testElementWithoutDecodableChangesIsReplacedByTheNext() {
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.undecodable(1, [.init(name: "A", reason: "no")], isEmpty: true)))
        XCTAssertEqual(machine.fetch([.init("B", 2)], token: "2").delivered, [item("B", updated: 2)])
    }

    /// The end of another stream does not accept a change that no stream could decode.
    func testUndecodableChangeIsKeptWhenAnotherStreamEnds() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.undecodable(1, [.init(name: "A", reason: "no")], isEmpty: true)))
        machine.run(.delivery(.streamRequested(2)))
        machine.run(.delivery(.undecodable(2, [.init(name: "A", reason: "no")], isEmpty: true)))
        machine.fetch([.init("B", 2)], token: "2")
        machine.run(.delivery(.streamEnded(2)))
        XCTAssertNotNil(machine.state.undelivered("A"))
    }

    func testAcceptingATouchedRecordAcceptsItsLatestVersion() {
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 1)], token: "1")
        machine.fetch([.init("A", 5, hash: 1)], token: "2")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.upload("A", 6).conflicts, [])
        XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [6])
    }
}
