import RecordCoding

import struct Foundation.Date

/// One entry of the journal.
///
/// Applying the entries in order gives the engine's durable state; nothing else changes it.
///
/// The machine applies an entry at once and undoes it if it cannot be stored. Effects outside the state wait
/// until the entry is stored: answers to calls, deliveries to the app, and requests that change the cloud.
package enum JournalEntry: Equatable, Sendable {
    /// The identity of a new state, written once.
    case made(for: StateIdentity)
    /// The user is confirmed, and everything in the state is theirs.
    case claimed(by: String)
    /// The user has signed out; with `removing`, what the cloud has confirmed was removed from this device.
    case signedOut(removing: Bool)
    /// The app uploaded or deleted a record, so it has seen these contents.
    case queued(name: String, LocalChange)
    /// The app edited the contents that this device shows, which the app may not have seen.
    ///
    /// `copy` is what the app has now, if that changes: the edited contents, or others that are its own copy.
    /// `given` is the version that the app's model carried, if that is newer than the one it was given.
    case edited(name: String, LocalChange, copy: ContentHandle?, given: ContentHandle? = nil)
    /// The models that the app had before its first sync are queued in this batch.
    case initialModelsQueued
    /// These contents are about to be sent; their response may be lost.
    case sending([SentContents])
    /// The server has saved what was sent.
    case saved(name: String, sent: ContentHandle, KnownVersion)
    /// The server no longer has the deleted record.
    case deletionConfirmed(name: String)
    /// The cloud returned a version of a record.
    case fetched(name: String, KnownVersion)
    /// The cloud no longer has a record.
    case fetchedDeletion(name: String)
    /// The feed reported changes to these records that could not be read; they must be looked up.
    case unread([String])
    /// A full listing contained these records unchanged.
    case listed([String])
    /// The change token after a page, stored in one batch with the page's changes.
    case page(token: ChangeToken, isComplete: Bool)
    /// The zone's change token is gone, and a full listing begins.
    case listingBegan
    /// A conflict between exactly these two contents was resolved.
    case resolved(name: String, client: ContentHandle, server: ContentHandle?, Resolution)
    /// A change is parked.
    case parked(name: String, ParkReason)
    /// The app asked to retry a parked change.
    case retried(name: String)
    /// The app discarded a pending change.
    case discarded(name: String)
    /// The app has accepted these changes.
    case accepted([AcceptedChange])
    /// These changes are handed out; if the process ends before they are accepted, one of them may have
    /// crashed it.
    case handedOut(OrderRuns)
    /// The zone exists.
    case zoneReady
    /// The zone is lost, with the reason if it is known.
    case zoneLost(DatabaseChanges.Deletion.Reason?)
    /// The app decided what happens to its data after the user purged the cloud's.
    case purgeResolved(uploadAgain: Bool)
    /// The position in the database's change feed.
    case databaseToken(ChangeToken?)
    /// The zone is subscribed to.
    case subscribed
    /// The server told the client to wait.
    case serverWait(until: Date?)
    /// A fetch reached the end of the feed.
    case fetchCompleted(Date)
    /// A note for the diagnostics that outlives a restart.
    case note(SyncNote)
    /// A record's whole state, as part of a snapshot.
    case record(name: String, RecordState)
    /// The parts of a snapshot that are not records.
    case summary(StateSummary)
}

/// Contents that are about to be sent, without a handle for a deletion.
package struct SentContents: Equatable, Sendable {
    package var name: String
    package var handle: ContentHandle?

    package init(name: String, handle: ContentHandle?) {
        self.name = name
        self.handle = handle
    }
}

/// Contents that the app has now, or a change that no stream takes.
package struct AcceptedChange: Equatable, Sendable {
    package enum Kind: String, Sendable {
        /// The app has accepted a change from a stream.
        case delivered
        /// No stream takes the change, so the app has what it had.
        case skipped
        /// A read has returned these contents, or none.
        case read
        /// The app has these contents on top of the version that it was given.
        case copy
    }

    package var name: String
    /// The delivery order of the change; 0 if there is none.
    package var order: UInt64
    package var seen: ContentHandle?
    /// The version whose system fields the app's model carries: the contents themselves, or the version below
    /// an edit.
    package var version: ContentHandle?
    package var kind: Kind

    /// Contents that are a version from the cloud.
    package init(name: String, order: UInt64 = 0, seen: ContentHandle?, kind: Kind = .delivered) {
        self.init(name: name, order: order, seen: seen, of: seen, kind: kind)
    }

    package init(
        name: String,
        order: UInt64 = 0,
        seen: ContentHandle?,
        of version: ContentHandle?,
        kind: Kind = .delivered
    ) {
        self.name = name
        self.order = order
        self.seen = seen
        self.version = version
        self.kind = kind
    }
}

extension AcceptedChange {
    mutating func repoint(from former: ContentHandle, to handle: ContentHandle) {
        if version == former { version = handle }
        if seen == former { seen = handle }
    }
}

/// The result of reconciling an edit with the cloud's latest version.
package enum Resolution: Equatable, Sendable {
    /// The cloud's version is this device's own or equals the edit; nothing is left to send.
    case confirmed(ContentHandle)
    /// The edit is kept as it is, on top of the cloud's version.
    case client
    /// The edit is kept with another date, as a new copy of the same model.
    case redated(ContentHandle, size: Int, edited: Date?)
    /// The two were merged into a new model.
    case merged(ContentHandle, size: Int, edited: Date?)
    /// The edit is discarded in favour of the cloud's version.
    case server
    /// The conflict could not be resolved.
    case failed(ParkReason)
}

/// The parts of the state that are not records.
package struct StateSummary: Equatable, Sendable {
    package var zoneToken: ChangeToken?
    package var databaseToken: ChangeToken?
    /// Whether records were known before the feed's position was read, so that a listing may be of another
    /// zone.
    package var isPositionLate = false
    package var zone: ZoneStage = .unknown
    package var isSubscribed = false
    /// The number of the newest full listing; `isListing` is true until it is complete.
    package var listing: UInt64 = 0
    package var isListing = false
    package var serverWait: Date?
    package var lastFetch: Date?
    package var deliveryOrder: UInt64 = 0
    /// Whether the models that the app had before its first sync were queued, which happens once.
    package var hasInitialModels = false
    /// What the state belongs to; `nil` if the journal does not record it.
    package var identity: StateIdentity?
    /// The user who owns the state; `nil` until one is confirmed.
    package var user: String?
    /// What happened to the records at the sign-out; `nil` if the user has not signed out or is back.
    package var signOut: SignOut?
    /// Whether the files still contain removed records, which the next snapshot leaves out.
    package var holdsRemoved = false
    /// The changes that were handed out and not accepted yet.
    package var handedOut = HandedOut()

    package init() {}
}

/// What is known about the zone.
package enum ZoneStage: String, Equatable, Sendable {
    /// Not created yet, as far as this device knows.
    case unknown
    /// Exists.
    case ready
    /// The user purged it, and the app must decide what happens to its data.
    case purged
    /// The user reset the encryption key of its records; the zone must be deleted and created again.
    case unreadable
}

extension JournalEntry {
    /// The handles of new contents that the entry introduces.
    package var introduced: [ContentHandle] {
        switch self {
        case .queued(_, let change): [change.handle, change.contested].compactMap { $0 }
        case .edited(_, let change, let copy, _):
            [change.handle, change.contested, copy == change.handle ? nil : copy].compactMap { $0 }
        case .saved(_, _, let version): [version.handle]
        case .fetched(_, let version): [version.handle]
        case .resolved(_, _, _, .merged(let handle, _, _)), .resolved(_, _, _, .redated(let handle, _, _)):
            [handle]
        default: []
        }
    }
}
