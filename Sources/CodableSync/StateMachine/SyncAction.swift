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
    case sendRetry, itemRetry, fetchRetry, setupRetry, lookUpRetry, resolveRetry, subscriptionRetry,
        deliverRetry
    case serverWait
    case poll
    /// A change has waited long enough for a page or a look-up.
    case slot
    /// Stored entries must be flushed.
    case flush
    case deadline(RequestID)
}

/// One item of a send request: the machine names stored contents, and the engine makes a record from them.
package struct SendItem: Equatable, Sendable {
    package var name: String
    /// The model to save; `nil` deletes.
    package var handle: ContentHandle?
    /// The version that the save is based on.
    package var known: KnownVersion?
    /// Whether an earlier deletion has an unknown outcome, so that the version may be gone.
    package var isBehindDeletion: Bool

    package init(name: String, handle: ContentHandle?, known: KnownVersion?, isBehindDeletion: Bool = false) {
        self.name = name
        self.handle = handle
        self.known = known
        self.isBehindDeletion = isBehindDeletion
    }
}

/// An edit and the version that it must be reconciled with.
package struct ReconcileItem: Equatable, Sendable {
    package var name: String
    package var client: ContentHandle
    package var clientEdited: Date?
    /// The cloud's latest version; `nil` if the record was deleted.
    package var server: ContentHandle?
    package var ancestor: ContentHandle?
    /// Field values that replace those in `ancestor`.
    package var contested: ContentHandle?
    /// Contents that this device sent and the server may have saved.
    package var sent: [SentVersion]

    package init(
        name: String,
        client: ContentHandle,
        clientEdited: Date?,
        server: ContentHandle?,
        ancestor: ContentHandle?,
        contested: ContentHandle? = nil,
        sent: [SentVersion]
    ) {
        self.name = name
        self.client = client
        self.clientEdited = clientEdited
        self.server = server
        self.ancestor = ancestor
        self.contested = contested
        self.sent = sent
    }
}

/// One record in an element of `changes`; all records in an element have the same kind of change.
package struct DeliveryItem: Equatable, Sendable {
    package var name: String
    package var kind: Undelivered.Kind

    package init(name: String, kind: Undelivered.Kind) {
        self.name = name
        self.kind = kind
    }
}

/// The outcome of one of the app's calls.
package enum CallAnswer: Equatable, Sendable {
    case done
    case summary(SyncSummary)
    case failed(SyncError)
}

/// Events with contents that the machine names and the engine loads.
package enum ContentsEvent: Equatable, Sendable {
    case discarded(name: String, ContentHandle, DiscardReason)
    case editOfDeleted(name: String, ContentHandle, kept: Bool)
    case conflictResolved(name: String, client: ContentHandle, server: ContentHandle, ConflictOutcome)
}
