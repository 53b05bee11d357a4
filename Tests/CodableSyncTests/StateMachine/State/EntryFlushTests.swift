import XCTest

@testable import CodableSync

/// One rule says which entries are flushed at once: those that nobody would repeat.
final class EntryFlushTests: XCTestCase {
    func testWhatTheCloudOrAStreamRepeatsSharesALaterFlush() {
        let repeated: [JournalEntry] = [
            .subscribed, .fetched(name: "A", KnownVersion(1)), .fetchedDeletion(name: "A"),
            .lookUpNeeded(["A"]),
            .listed(["A"]), .page(token: ChangeToken("t"), isComplete: true),
            .fetchCompleted(JournalSamples.date),
            .saved(name: "A", sent: 1, KnownVersion(2)), .held([]),
        ]
        for entry in repeated { XCTAssertTrue(entry.isRepeatable, "\(entry)") }
        let others = JournalSamples.entries.filter { entry in
            switch entry {
            case .fetching(.listingBegan): true
            case .fetching, .delivering, .zones(.subscribed), .sending(.saved): false
            case .account, .zones, .sending, .resolving, .calls, .serverWait, .note, .row: true
            }
        }
        XCTAssertGreaterThan(others.count, 30)
        for entry in others { XCTAssertFalse(entry.isRepeatable, "\(entry)") }
    }

    func testABatchIsFlushedIfOneEntryIsNotRepeated() {
        for (entries, isFlushed) in [
            ([JournalEntry.subscribed, .held([])], false),
            ([.subscribed, .deletionConfirmed(name: "A")], true), ([], false),
        ] {
            let now = Moment(monotonic: .zero, wall: JournalSamples.date)
            var context = SyncContext(state: SyncState(), configuration: MachineConfiguration(), at: now)
            context.append(entries)
            XCTAssertEqual(context.takeChanges().mustFlush, isFlushed, "\(entries)")
        }
    }
}
