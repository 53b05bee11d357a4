import RecordCoding

import struct Foundation.Date

/// Everything that the state machine can ask its shell to do.
///
/// Where order matters between lanes, the second action is emitted only on the first one's outcome. At most one request
/// about zones and records is under way at a time.
package enum SyncAction: Equatable, Sendable {
    /// Journal lane, strictly in order; flushed before it is reported, if asked.
    case append(BatchID, [JournalEntry], flush: Bool)
    /// The journal accepts batches again; all batches that were appended before have failed.
    case resumeJournal

    /// Opens the state of another user, who is here, in the place of this one.
    case switchUser(to: String)
    case checkAccount(RequestID)
    /// Makes the zone. With a mark's number, a zone whose records can no longer be read is deleted first, and the
    /// deletion leaves that mark.
    case saveZone(RequestID, mark: UInt64?)
    case subscribe(RequestID)
    case readDatabaseChanges(RequestID, since: ChangeToken?)
    case fetch(RequestID, since: ChangeToken?)
    case lookUp(RequestID, [String])
    case send(RequestID, [SendItem])
    /// Cancels a read-only request whose answer is no longer needed.
    case cancel(RequestID)
    /// Gives the pairs to the model's resolver.
    case reconcile([ReconcileItem])
    /// Hands an element to a stream that waits for it.
    case deliver(StreamID, [DeliveryItem])

    case setTimer(SyncTimer, at: Duration)
    case cancelTimer(SyncTimer)
    case answer(CallID, CallAnswer)
    case emit(SyncEvent)
    /// An event that carries contents, which the shell loads.
    case emitLoading(ContentsEvent)
    case report(SyncStatus)
    case reportAccount(AccountStatus)
}

/// The timers, one of each at most.
package enum SyncTimer: Hashable, Sendable {
    case sendRetry, itemRetry, fetchRetry, setupRetry, lookUpRetry, resolveRetry, subscriptionRetry,
        deliverRetry
    case serverWait
    case poll
    /// A change has waited long enough behind a page or a look-up.
    case slot
    /// Stored entries have gone unflushed for long enough.
    case flush
    case deadline(RequestID)
}

/// One item of a request: the machine names what is stored, the shell makes the record of it.
package struct SendItem: Equatable, Sendable {
    package var name: String
    /// The model to save; `nil` deletes.
    package var handle: ContentHandle?
    /// The version that the save is made on.
    package var known: KnownVersion?
    /// A deletion has left before, and nobody knows whether the server has done it: the version may be gone.
    package var isBehindDeletion: Bool

    package init(name: String, handle: ContentHandle?, known: KnownVersion?, isBehindDeletion: Bool = false) {
        self.name = name
        self.handle = handle
        self.known = known
        self.isBehindDeletion = isBehindDeletion
    }
}

/// An edit and what it must be reconciled with.
package struct ReconcileItem: Equatable, Sendable {
    package var name: String
    package var client: ContentHandle
    package var clientEdited: Date?
    /// The cloud's last word; `nil` if the record was deleted.
    package var server: ContentHandle?
    package var ancestor: ContentHandle?
    /// Field values that replace those in `ancestor`.
    package var contested: ContentHandle?
    /// What the server may hold as our own write.
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

/// One record of an element of `changes`; all of an element are of one kind.
package struct DeliveryItem: Equatable, Sendable {
    package var name: String
    package var kind: Undelivered.Kind

    package init(name: String, kind: Undelivered.Kind) {
        self.name = name
        self.kind = kind
    }
}

/// How a call of the app ends.
package enum CallAnswer: Equatable, Sendable {
    case done
    case summary(SyncSummary)
    case failed(SyncError)
}

/// Events about contents that the machine names, and the shell loads.
package enum ContentsEvent: Equatable, Sendable {
    case discarded(name: String, ContentHandle, DiscardReason)
    case editOfDeleted(name: String, ContentHandle, kept: Bool)
    case conflictResolved(name: String, client: ContentHandle, server: ContentHandle, ConflictOutcome)
}
