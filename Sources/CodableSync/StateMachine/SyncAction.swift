import RecordCoding

import struct Foundation.Date

/// Everything that the state machine can ask the engine to do.
///
/// Where order matters between lanes, the machine emits the second action only after the first has completed.
/// At most one request about zones and records is in flight at a time.
package enum SyncAction: Equatable, Sendable {
    /// Appends a batch to the journal, strictly in order; with `flush`, it is flushed before it is reported
    /// as stored.
    case append(BatchID, [JournalEntry], flush: Bool)
    /// Loads contents for the events of the batch that is appended next, which may make a compaction drop
    /// them.
    case keepContents(BatchID, [ContentHandle])
    /// Makes the journal accept batches again; all batches appended before have failed.
    case resumeJournal

    /// Replaces this state by that of the user who is now signed in.
    case switchUser(to: String)
    case checkAccount(RequestID)
    /// Creates the zone. With a mark's number, it first deletes the zone, whose records can no longer be
    /// read, and leaves that mark.
    case saveZone(RequestID, mark: UInt64?)
    case subscribe(RequestID)
    case readDatabaseChanges(RequestID, since: ChangeToken?)
    case fetch(RequestID, since: ChangeToken?)
    case lookUp(RequestID, [String])
    case send(RequestID, [SendItem])
    /// Cancels a read-only request whose response is no longer needed.
    case cancel(RequestID)
    /// Passes the conflicts to the model's resolver.
    case reconcile([ReconcileItem])
    /// Delivers an element to a stream that waits for it.
    case deliver(StreamID, [DeliveryItem])

    case setTimer(SyncTimer, at: Duration)
    case cancelTimer(SyncTimer)
    case answer(CallID, CallAnswer)
    case emit(SyncEvent)
    /// Emits an event with contents, which the engine loads.
    case emitLoading(ContentsEvent)
    case report(SyncStatus)
    case reportAccount(AccountStatus)
}

/// The timers; at most one of each runs.
package enum SyncTimer: Hashable, Sendable {
    // The waits of the lanes.
    case accountRetry, zoneRetry, subscriptionRetry, fetchRetry, lookUpRetry, sendRetry, resolveRetry,
        deliverRetry
    /// Deferred changes are sent again.
    case itemRetry
    case serverWait
    case poll
    /// A change has waited long enough for a page or a look-up.
    case slot
    /// Stored entries must be flushed.
    case flush
    case deadline(RequestID)
}

/// Events with contents that the machine names and the engine loads.
package enum ContentsEvent: Equatable, Sendable {
    case discarded(name: String, ContentHandle, DiscardReason)
    case editOfDeleted(name: String, ContentHandle, kept: Bool)
    case conflictResolved(name: String, client: ContentHandle, server: ContentHandle, ConflictOutcome)
}

extension SyncTimer {
    /// The timers of the engine's own waits, which a call may end early.
    static let ownWaits: [SyncTimer] = [
        .accountRetry, .zoneRetry, .subscriptionRetry, .fetchRetry, .lookUpRetry, .sendRetry, .resolveRetry,
    ]
}
