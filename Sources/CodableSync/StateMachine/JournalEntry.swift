import RecordCoding

import struct Foundation.Date

/// One durable fact.
///
/// The engine's durable state is the fold of these, and of nothing else.
///
/// A fact is applied to the state only once the journal says that it is stored, so nothing that the engine
/// promises, delivers or sends can be ahead of the disk.
package enum JournalEntry: Equatable, Sendable {
    /// What the state belongs to, said once, when it is made.
    case made(for: StateIdentity)
    /// This user is confirmed: whatever is here is theirs.
    case claimed(by: String)
    /// The user has signed out; with `removing`, what the cloud has confirmed is no longer here.
    case signedOut(removing: Bool)
    /// The app uploaded or deleted a record, so it has seen these contents.
    case queued(name: String, LocalChange)
    /// The app edited the contents that this device shows, which the app may not have seen.
    case edited(name: String, LocalChange)
    /// The models that the app had before sync are queued, with this batch.
    case initialModelsQueued
    /// These contents leave for the server; what comes back may be lost.
    case sending([SentContents])
    /// The server has what was sent.
    case saved(name: String, sent: ContentHandle, KnownVersion)
    /// The server no longer has what was to be deleted.
    case deletionConfirmed(name: String)
    /// The cloud's last word on a record.
    case fetched(name: String, KnownVersion)
    /// The cloud no longer has a record.
    case fetchedDeletion(name: String)
    /// Records of which the feed has passed a change that could not be read: to be looked up.
    case unread([String])
    /// Records that a full listing met unchanged.
    case listed([String])
    /// The position after a page, stored with the page's changes in one commit.
    case page(token: ChangeToken, isComplete: Bool)
    /// The position is lost: a full listing begins.
    case listingBegan
    /// A conflict was decided, for exactly these two contents.
    case resolved(name: String, client: ContentHandle, server: ContentHandle?, Resolution)
    /// A change is set aside.
    case parked(name: String, ParkReason)
    /// The app wants a parked change to be tried again.
    case retried(name: String)
    /// The app gave a parked change up.
    case discarded(name: String)
    /// The app has taken these changes.
    case accepted([AcceptedChange])
    /// These changes are in the app's hands: if the process ends now, one of them may be the reason.
    case handedOut(OrderRuns)
    /// The zone exists.
    case zoneReady
    /// The zone is gone, and why, if that is known.
    case zoneLost(DatabaseChanges.Deletion.Reason?)
    /// The app decided what becomes of its data after the user purged the cloud's.
    case purgeResolved(uploadAgain: Bool)
    /// The position in the database's change feed.
    case databaseToken(ChangeToken?)
    /// The zone is subscribed to.
    case subscribed
    /// The server told the client to wait.
    case serverWait(until: Date?)
    /// A fetch reached the end of the feed.
    case fetchCompleted(Date)
    /// Something that diagnostics must still tell after a restart.
    case note(SyncNote)
    /// A record's whole state: what a snapshot consists of.
    case record(name: String, RecordState)
    /// What a snapshot says beside its records.
    case summary(StateSummary)
}

/// Contents that leave for the server; no handle for a deletion.
package struct SentContents: Equatable, Sendable {
    package var name: String
    package var handle: ContentHandle?

    package init(name: String, handle: ContentHandle?) {
        self.name = name
        self.handle = handle
    }
}

/// A change that the app has taken: which one, and the version that it has now seen.
package struct AcceptedChange: Equatable, Sendable {
    package var name: String
    package var order: UInt64
    package var seen: ContentHandle?

    package init(name: String, order: UInt64, seen: ContentHandle?) {
        self.name = name
        self.order = order
        self.seen = seen
    }
}

/// What came of reconciling an edit with the cloud's last word.
package enum Resolution: Equatable, Sendable {
    /// The cloud's value is our own write, or equal to the edit: nothing is left to send.
    case confirmed(ContentHandle)
    /// The edit stands as it is, on top of the cloud's value.
    case client
    /// The edit stands, with another date: another copy of the same model.
    case redated(ContentHandle, size: Int, edited: Date?)
    /// Both were made into a new model.
    case merged(ContentHandle, size: Int, edited: Date?)
    /// The edit is given up.
    case server
    /// Nothing could be decided.
    case failed(ParkReason)
}

/// The parts of the state that are not records.
package struct StateSummary: Equatable, Sendable {
    package var zoneToken: ChangeToken?
    package var databaseToken: ChangeToken?
    /// Records were known before the position was read: a listing may show another zone than theirs.
    package var isPositionLate = false
    package var zone: ZoneStage = .unknown
    package var isSubscribed = false
    /// The number of the newest full listing, and whether it is still going on.
    package var listing: UInt64 = 0
    package var isListing = false
    package var serverWait: Date?
    package var lastFetch: Date?
    package var deliveryOrder: UInt64 = 0
    /// The models that the app had before sync were queued; that happens once.
    package var hasInitialModels = false
    /// What the state belongs to; `nil` for one that does not say so.
    package var identity: StateIdentity?
    /// Whose it is; `nil` while nobody has claimed it.
    package var user: String?
    /// The user has signed out, and not come back.
    package var signOut: SignOut?
    /// The files still hold records that were removed; a snapshot leaves them out.
    package var holdsRemoved = false
    /// What the app has in its hands.
    package var handedOut = HandedOut()

    package init() {}
}

/// What is known of the zone.
package enum ZoneStage: String, Equatable, Sendable {
    /// Not made yet, as far as this device knows.
    case unknown
    /// Made or met.
    case ready
    /// The user removed it; the app must decide.
    case purged
    /// The user reset the key of its records: it is deleted, and made anew.
    case unreadable
}

extension JournalEntry {
    /// The contents that the entry introduces, if they are new.
    package var introduced: [ContentHandle] {
        switch self {
        case .queued(_, let change), .edited(_, let change):
            [change.handle, change.contested].compactMap { $0 }
        case .saved(_, _, let version): [version.handle]
        case .fetched(_, let version): [version.handle]
        case .resolved(_, _, _, .merged(let handle, _, _)), .resolved(_, _, _, .redated(let handle, _, _)):
            [handle]
        default: []
        }
    }
}
