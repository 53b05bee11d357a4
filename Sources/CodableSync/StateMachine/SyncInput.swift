import RecordCoding

import struct Foundation.Date

/// Numbers that name calls of the app, requests to the cloud, batches of the journal and streams of changes.
package typealias CallID = UInt64
package typealias RequestID = UInt64
package typealias BatchID = UInt64
package typealias StreamID = UInt64

/// Everything that can happen to the state machine.
package enum SyncInput: Equatable, Sendable {
    /// The app, or the first use of the engine, wants it to work.
    case start
    case stop
    /// The app uploads or deletes; all of it is queued, or nothing.
    case enqueue(CallID, [NewChange])
    /// The app wants to know when all is sent and fetched.
    case sync(CallID, SyncParts)
    case retry(CallID, names: [String])
    case discard(CallID, names: [String])
    case resync(CallID)
    case resolvePurge(CallID, uploadAgain: Bool)
    /// A read returned these contents to the app.
    case read([GivenContents])
    /// These versions were read and could not be decoded, so that the app has not seen them.
    case readInVain([ReadVersion])
    /// Nobody waits for a call any more.
    case abandoned(CallID)

    /// A batch of the journal is as durable as was asked for.
    case committed(BatchID)
    case commitFailed(BatchID, JournalFailure)

    /// A caller needs the state of the user who is here.
    case switchWanted
    /// The state of the user who is here cannot be opened.
    case switchFailed(SyncError)
    /// This machine takes over from the one of a former user, of whom the app was told last.
    case switched(from: String?)

    case accountChecked(RequestID, Result<CloudAccount, CloudError>)
    case zoneSaved(RequestID, CloudError?)
    case subscribed(RequestID, CloudError?)
    case databaseChanged(RequestID, Result<ZoneFate, CloudError>)
    case fetched(RequestID, Result<FetchedPage, CloudError>)
    case lookedUp(RequestID, Result<[LookedUp], CloudError>)
    case sent(RequestID, Result<[SendResult], CloudError>)
    /// The contents to send could not be read from the disk; nothing was sent.
    case sendUnread(RequestID, JournalFailure)
    case reconciled([Reconciled])

    case timerFired(SyncTimer)
    case signal(CloudSignal)
    /// The database has other limits than before.
    case limitsChanged(DatabaseLimits)

    /// A stream asks for its next element, and so accepts the one that it has.
    case streamRequested(StreamID)
    case streamEnded(StreamID)
    /// Contents that were handed out and could not be decoded; `isEmpty` if nothing else was in the element.
    case undecodable(StreamID, [UndecodableChange], isEmpty: Bool)
    /// Changes that were to be delivered, but newer ones of their records have replaced them.
    case overtaken(StreamID, [String], isEmpty: Bool)
    /// Contents that were handed out and cannot be read from the disk now.
    case unread(StreamID, [String], isEmpty: Bool)
}

/// A change that could not be decoded, and why.
package struct UndecodableChange: Equatable, Sendable {
    package var name: String
    package var reason: String

    package init(name: String, reason: String) {
        self.name = name
        self.reason = reason
    }
}

/// What a call to `sync` and its parts asks for.
package struct SyncParts: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static let fetch = SyncParts(rawValue: 1)
    package static let send = SyncParts(rawValue: 2)
    /// A push asks, not a person: nothing is tried that a push says nothing about.
    package static let hint = SyncParts(rawValue: 4)
}

/// A change that the app asks for; its contents are staged under the handle.
package struct NewChange: Equatable, Sendable {
    package var name: String
    package var kind: LocalChange.Kind
    package var edited: Date?
    /// A model that the app had before sync: it knows nothing of the cloud's, and is queued only once.
    package var isInitial = false
    /// What an edit was made on; `nil` for an upload or a deletion of the whole record.
    package var basis: Basis?

    package struct Basis: Equatable, Sendable {
        package var handle: ContentHandle?
        package var contested: ContentHandle?

        package init(_ handle: ContentHandle?, contested: ContentHandle? = nil) {
            self.handle = handle
            self.contested = contested
        }
    }

    package init(
        name: String,
        kind: LocalChange.Kind,
        edited: Date?,
        isInitial: Bool = false,
        basis: Basis? = nil
    ) {
        self.name = name
        self.kind = kind
        self.edited = edited
        self.isInitial = isInitial
        self.basis = basis
    }
}

/// Why the journal did not take a batch.
package enum JournalFailure: Equatable, Sendable, Error {
    case storageFull(String)
    case unreadable(String)

    /// What happened, where and why.
    package var detail: String {
        switch self {
        case .storageFull(let detail), .unreadable(let detail): detail
        }
    }

    /// What a caller is told.
    package var syncError: SyncError {
        switch self {
        case .storageFull(let detail): .storageFull(detail)
        case .unreadable(let detail): .stateUnreadable(detail)
        }
    }
}

/// Who the user is, if there is one.
package struct CloudAccount: Equatable, Sendable {
    package var status: AccountStatus
    package var userRecordName: String?

    package init(status: AccountStatus, userRecordName: String?) {
        self.status = status
        self.userRecordName = userRecordName
    }
}

/// One page of the zone's feed; its contents are staged.
package struct FetchedPage: Equatable, Sendable {
    package var records: [FetchedRecord] = []
    package var deletions: [String] = []
    /// Records that could not be read in this page, to be looked up.
    package var failed: [String] = []
    /// Records of other types, and such without a usable name.
    package var ignored = 0
    package var token: ChangeToken
    package var moreComing: Bool

    package init(token: ChangeToken, moreComing: Bool) {
        self.token = token
        self.moreComing = moreComing
    }
}

package struct FetchedRecord: Equatable, Sendable {
    package var name: String
    package var version: KnownVersion

    package init(name: String, version: KnownVersion) {
        self.name = name
        self.version = version
    }
}

/// What a look-up by name found: the version, nothing, or an error.
package struct LookedUp: Equatable, Sendable {
    package var name: String
    package var result: Result<KnownVersion?, CloudError>

    package init(name: String, result: Result<KnownVersion?, CloudError>) {
        self.name = name
        self.result = result
    }
}

/// What became of one item of a request.
package struct SendResult: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        /// The server's new version, staged.
        case saved(KnownVersion)
        /// The record is not on the server any more.
        case deleted
        /// The edit equals what the server has; nothing was sent.
        case unchanged
        /// Refused as a conflict; the server's version is staged where it came along.
        case conflict(server: KnownVersion?)
        case failed(CloudError)
        /// The answer does not mention the item: nobody knows.
        case unmentioned
        /// The server has a version that this app cannot decode and must not change; nothing was sent.
        case undecodable(String)
        /// The stored model could not be read back.
        case unreadable(String)
    }

    package var name: String
    package var handle: ContentHandle?
    package var outcome: Outcome

    package init(name: String, handle: ContentHandle?, outcome: Outcome) {
        self.name = name
        self.handle = handle
        self.outcome = outcome
    }
}

/// What the model made of a conflict, for exactly these contents.
package struct Reconciled: Equatable, Sendable {
    package var item: ReconcileItem
    package var resolution: Resolution
    /// Whether the resolver was asked; not if the contents were equal or our own.
    package var wasAsked: Bool
    /// Whether a request of this device carried the cloud's value.
    package var isOwnWrite: Bool

    package init(item: ReconcileItem, resolution: Resolution, wasAsked: Bool, isOwnWrite: Bool = false) {
        self.item = item
        self.resolution = resolution
        self.wasAsked = wasAsked
        self.isOwnWrite = isOwnWrite
    }
}

/// What a read returned to the app for one record.
package struct GivenContents: Equatable, Sendable {
    package var name: String
    /// The contents; `nil` if there was no such record.
    package var handle: ContentHandle?
    /// The cloud's version at that moment; the contents are that version, or an edit on top of it.
    package var known: ContentHandle?
    /// The change tag, if the contents are the cloud's version.
    package var changeTag: String?

    package init(
        name: String,
        handle: ContentHandle?,
        known: ContentHandle? = nil,
        changeTag: String? = nil
    ) {
        self.name = name
        self.handle = handle
        self.known = known
        self.changeTag = changeTag
    }
}

/// A version of a record that was read.
package struct ReadVersion: Hashable, Sendable {
    package var name: String
    package var handle: ContentHandle
    /// Why it could not be decoded, without its contents.
    package var reason: String
    /// Whether the stored contents themselves cannot be read, so that the record must be fetched again.
    package var isLost: Bool

    package init(name: String, handle: ContentHandle, reason: String, isLost: Bool = false) {
        self.name = name
        self.handle = handle
        self.reason = reason
        self.isLost = isLost
    }
}
