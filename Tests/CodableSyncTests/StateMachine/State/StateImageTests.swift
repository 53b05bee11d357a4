import XCTest

@testable import CodableSync

/// When the disk rejects batches, the state returns to what it was before them.
final class StateImageTests: XCTestCase {
    private var state = SyncState()

    override func setUp() {
        super.setUp()
        apply(.fetched(name: "A", KnownVersion(1)), .note(note("stored")))
    }

    /// Applies entries as one batch.
    @discardableResult
    private func apply(_ entries: JournalEntry...) -> StateImage {
        state.beginImage()
        for entry in entries { state.apply(entry) }
        return state.endImage()
    }

    private func note(_ message: String) -> SyncNote {
        SyncNote(kind: .discarded, date: JournalSamples.date, recordName: nil, message: message)
    }

    private func queued(_ handle: ContentHandle, base: ContentHandle) -> JournalEntry {
        .queued(name: "A", LocalChange(kind: .save(handle, size: 1), edited: nil, base: base))
    }

    func testTheNewestKnownVersionIsRestored() {
        for entry in [JournalEntry.fetched(name: "A", KnownVersion(5)), .zoneLost(.deleted)] {
            let image = apply(entry)
            XCTAssertNotEqual(state.newestKnown, KnownVersion(1))
            state.restore([image])
            XCTAssertEqual(state.newestKnown, KnownVersion(1))
        }
    }

    func testTheSummaryIsRestored() {
        let summary = state.summary
        let image = apply(.databaseToken(ChangeToken("1")), .fetchCompleted(JournalSamples.date))
        XCTAssertNotEqual(state.summary, summary)
        state.restore([image])
        XCTAssertEqual(state.summary, summary)
    }

    func testZonesAreRestored() {
        apply(.registered(1, "Z"), .zoneReady)
        let zones = state.zones
        let image = apply(
            .page(token: ChangeToken("1"), isComplete: true),
            .subscribed,
            .registered(2, "Y"),
            .zoneLost(.purged)
        )
        XCTAssertNotEqual(state.zones, zones)
        state.restore([image])
        XCTAssertEqual(state.zones, zones)
    }

    func testNotesAreRemoved() {
        let image = apply(.note(note("first")), .discarded(name: "A"), .note(note("second")))
        state.restore([image])
        XCTAssertEqual(state.notes.map(\.message), ["stored"])
    }

    func testARecordChangedTwiceInABatchIsRestored() {
        let record = state["A"]
        let image = apply(queued(2, base: 1), .fetched(name: "A", KnownVersion(5)), queued(6, base: 5))
        state.restore([image])
        XCTAssertEqual(state["A"], record)
        XCTAssertEqual(state.pendingNames, [])
    }

    func testARecordChangedByTwoBatchesIsRestored() {
        let (record, summary) = (state["A"], state.summary)
        let images = [apply(queued(2, base: 1), .subscribed), apply(.fetched(name: "A", KnownVersion(5)))]
        state.restore(images)
        XCTAssertEqual(state["A"], record)
        XCTAssertEqual(state.summary, summary)
        XCTAssertEqual(state.newestKnown, KnownVersion(1))
    }
}
