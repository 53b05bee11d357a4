import RecordCoding

import struct Foundation.Date

/// Numbers that identify the app's calls, requests to the cloud, journal batches and streams of changes.
package typealias CallID = UInt64
package typealias RequestID = UInt64
package typealias BatchID = UInt64
package typealias StreamID = UInt64

/// Everything that the state machine reacts to.
package enum SyncInput: Equatable, Sendable {
    /// The app called `start`, or used the engine for the first time.
    case start
    case stop
    /// The app uploads, edits or deletes; either all changes are queued or none.
    case enqueue(CallID, [NewChange])
    /// A call waits until everything is sent and fetched.
    case sync(CallID, SyncParts)
    case retry(CallID, names: [String])
    case discard(CallID, names: [String])
    case resync(CallID)
    case resolvePurge(CallID, uploadAgain: Bool)
    /// A read returned these contents to the app.
    case read([GivenContents])
    /// These versions were read and could not be decoded, so that the app has not seen them.
    case readInVain([ReadVersion])
    /// The caller no longer waits for the call.
    case abandoned(CallID)

    /// A batch of the journal is stored, and flushed if that was requested.
    case committed(BatchID)
    case commitFailed(BatchID, JournalFailure)

    /// A call needs the state of the user who is signed in.
    case switchWanted
    /// The calls that were made before a switch have ended.
    case formerCallsEnded
    /// The state of the user who is signed in could not be opened.
    case switchFailed(SyncError)
    /// This machine has replaced a former user's; `nil` if the app was already notified of that user's
    /// sign-out.
    case switched(from: String?)

    case accountChecked(RequestID, Result<CloudAccount, CloudError>)
    case zoneSaved(RequestID, CloudError?)
    case subscribed(RequestID, CloudError?)
    case databaseChanged(RequestID, Result<ZoneFate, CloudError>)
    case fetched(RequestID, Result<FetchedPage, CloudError>)
    case lookedUp(RequestID, Result<[LookedUp], CloudError>)
    case sent(RequestID, Result<[SendResult], CloudError>)
    /// The contents to send could not be read from disk; nothing was sent.
    case sendUnread(RequestID, JournalFailure)
    case reconciled([Reconciled])

    case timerFired(SyncTimer)
    case signal(CloudSignal)
    /// The database's limits have changed.
    case limitsChanged(DatabaseLimits)

    /// A stream requests its next element, which accepts the one that it holds.
    case streamRequested(StreamID)
    case streamEnded(StreamID)
    /// Changes in an element could not be decoded; `isEmpty` if the element has no others.
    case undecodable(StreamID, [UndecodableChange], isEmpty: Bool)
    /// Changes in an element were replaced by newer changes to the same records before they were delivered.
    case overtaken(StreamID, [String], isEmpty: Bool)
    /// Changes in an element cannot be read from disk at the moment.
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

/// The parts of a sync that a call requests.
package struct SyncParts: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static let fetch = SyncParts(rawValue: 1)
    package static let send = SyncParts(rawValue: 2)
    /// A push triggered the call, so the engine does not retry what a push cannot fix.
    package static let hint = SyncParts(rawValue: 4)
}

/// A change that the app makes; its contents are staged under the handle.
package struct NewChange: Equatable, Sendable {
    package var name: String
    package var kind: LocalChange.Kind
    package var edited: Date?
    /// Whether the app had the model before its first sync: such models are queued only once and have no
    /// ancestor.
    package var isInitial = false
    /// Whether the change only marks stored contents as seen: the app has uploaded what this device shows.
    package var isSeenOnly = false
    /// The version that an edit is based on; `nil` for an upload or a deletion of the whole record.
    package var basis: Basis?

    package struct Basis: Equatable, Sendable {
        package var handle: ContentHandle?
        package var contested: ContentHandle?
        /// What the app has after the edit; `nil` if it has what it had.
        package var copy: ContentHandle?
        /// The version that the app's model carried, if that is newer than the one it was given.
        package var given: ContentHandle?

        package init(
            _ handle: ContentHandle?,
            contested: ContentHandle? = nil,
            copy: ContentHandle? = nil,
            given: ContentHandle? = nil
        ) {
            self.handle = handle
            self.contested = contested
            self.copy = copy
            self.given = given
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

    /// Marks stored contents as seen.
    package init(name: String, seen: ContentHandle) {
        self.init(name: name, kind: .save(seen, size: 0), edited: nil)
        isSeenOnly = true
    }
}

/// Why the journal could not store a batch or read contents.
package enum JournalFailure: Equatable, Sendable, Error {
    case storageFull(String)
    case unreadable(String)

    /// What happened, where and why.
    package var detail: String {
        switch self {
        case .storageFull(let detail), .unreadable(let detail): detail
        }
    }

    /// The error that callers get.
    package var syncError: SyncError {
        switch self {
        case .storageFull(let detail): .storageFull(detail)
        case .unreadable(let detail): .stateUnreadable(detail)
        }
    }
}

/// The account's status and, if available, its user.
package struct CloudAccount: Equatable, Sendable {
    package var status: AccountStatus
    package var userRecordName: String?

    package init(status: AccountStatus, userRecordName: String?) {
        self.status = status
        self.userRecordName = userRecordName
    }
}

/// One page of the zone's feed, with its contents staged.
package struct FetchedPage: Equatable, Sendable {
    package var records: [FetchedRecord] = []
    package var deletions: [String] = []
    /// Records that could not be read in this page and must be looked up.
    package var failed: [String] = []
    /// The number of records of other types or without a usable name.
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

/// The result of looking up one record: the version, `nil` if there is none, or an error.
package struct LookedUp: Equatable, Sendable {
    package var name: String
    package var result: Result<KnownVersion?, CloudError>

    package init(name: String, result: Result<KnownVersion?, CloudError>) {
        self.name = name
        self.result = result
    }
}

/// The result for one item of a send request.
package struct SendResult: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        /// The server's new version, staged.
        case saved(KnownVersion)
        /// The record is no longer on the server.
        case deleted
        /// The edit equals the server's version; nothing was sent.
        case unchanged
        /// The server reported a conflict; its version is staged if the response contained it.
        case conflict(server: KnownVersion?)
        case failed(CloudError)
        /// The response does not mention the item, so its outcome is unknown.
        case unmentioned
        /// The server has a version that this app cannot decode and must not overwrite; nothing was sent.
        case undecodable(String)
        /// The stored model could not be read.
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

/// The resolution of a conflict between exactly these contents.
package struct Reconciled: Equatable, Sendable {
    package var item: ReconcileItem
    package var resolution: Resolution
    /// Whether the resolver was asked; it is not if the contents were equal or this device's own.
    package var wasAsked: Bool
    /// Whether this device sent the cloud's version.
    package var isOwnWrite: Bool

    package init(item: ReconcileItem, resolution: Resolution, wasAsked: Bool, isOwnWrite: Bool = false) {
        self.item = item
        self.resolution = resolution
        self.wasAsked = wasAsked
        self.isOwnWrite = isOwnWrite
    }
}

/// The contents that a read returned to the app for one record.
package struct GivenContents: Equatable, Sendable {
    package var name: String
    /// The contents; `nil` if there was no such record.
    package var handle: ContentHandle?
    /// The cloud's version at the time; the contents are that version or an edit on top of it.
    package var known: ContentHandle?
    /// The version whose system fields the model carried: the cloud's version, or the one below the edit.
    package var version: ContentHandle?
    /// The change tag if the contents are the cloud's version.
    package var changeTag: String?

    package init(
        name: String,
        handle: ContentHandle?,
        known: ContentHandle? = nil,
        version: ContentHandle? = nil,
        changeTag: String? = nil
    ) {
        self.name = name
        self.handle = handle
        self.known = known
        self.version = version
        self.changeTag = changeTag
    }
}

/// A version of a record that a read could not decode.
package struct ReadVersion: Hashable, Sendable {
    package var name: String
    package var handle: ContentHandle
    /// Why it could not be decoded, without its contents.
    package var reason: String
    /// Whether the stored contents are unreadable, so that the record must be fetched again.
    package var isLost: Bool

    package init(name: String, handle: ContentHandle, reason: String, isLost: Bool = false) {
        self.name = name
        self.handle = handle
        self.reason = reason
        self.isLost = isLost
    }
}
