import XCTest

@testable import CodableSync

/// One rule says which changes are flushed at once: those that nobody would repeat.
final class EntryFlushTests: XCTestCase {
    private func isFlushed(_ changes: StateChange...) -> Bool? {
        var state = SyncState()
        state.beginImage()
        for change in changes { state.apply(change) }
        return state.image?.mustFlush
    }

    func testWhatTheCloudOrAStreamRepeatsSharesALaterFlush() {
        let repeated: [StateChange] = [
            .subscribed, .fetched(name: "A", KnownVersion(1)), .fetchedDeletion(name: "A"),
            .lookUpNeeded(["A"]),
            .listed(["A"]), .page(token: ChangeToken("t"), isComplete: true),
            .fetchCompleted(JournalSamples.date), .readable(JournalSamples.schemas[0]),
            .saved(name: "A", sent: 1, KnownVersion(2)), .held([]), .followed, .startedOver, .told(["A"]),
            .renewed(["A"]), .undecodable(["A"]),
        ]
        for change in repeated { XCTAssertEqual(isFlushed(change), false, "\(change)") }
    }

    func testWhatNobodyRepeatsIsFlushed() {
        let edit = LocalChange(kind: .save(1, size: 1), edited: nil, base: nil)
        let others: [StateChange] = [
            .made(for: JournalSamples.identities[0]), .claimed(by: "alice"),
            .entered(from: nil, switchCount: 1),
            .switchTold, .signedOut(removing: true), .signedOut(removing: false),
            .registered(1, "Z"), .zoneReady, .zoneLost(nil), .zoneLost(.purged),
            .purgeResolved(uploadAgain: true), .databaseToken(nil), .listingBegan,
            .sendBegan([SendItem(name: "A", handle: 1)]), .deletionConfirmed(name: "A"),
            .parked(name: "A", JournalSamples.reasons[0]),
            .resolved(name: "A", client: 1, server: nil, .client),
            .queued(name: "A", edit), .edited(name: "A", edit),
            .initialModelsQueued(InitialModels("T")), .retried(name: "A"), .discarded(name: "A"),
        ]
        for change in others { XCTAssertEqual(isFlushed(change), true, "\(change)") }
    }

    func testATurnIsFlushedIfOneChangeIsNotRepeated() {
        XCTAssertEqual(isFlushed(.subscribed, .held([])), false)
        XCTAssertEqual(isFlushed(.subscribed, .deletionConfirmed(name: "A")), true)
        XCTAssertEqual(isFlushed(), false)
    }

    func testAWaitThatTheServerOrdersAndANoteAreFlushed() {
        let now = Moment(monotonic: .zero, wall: JournalSamples.date)
        for change in [
            { $0.applyRetryAfter(.seconds(7)) }, { $0.note(.parked, "A", "text") },
        ] as [(inout SyncContext) -> Void] {
            var context = SyncContext(state: SyncState(), configuration: MachineConfiguration(), at: now)
            change(&context)
            XCTAssertTrue(context.takeChanges().mustFlush)
        }
    }
}
