import RecordCoding

import struct Foundation.Date

/// Names contents in the journal: a copy of one record, written once, never changed.
///
/// Of two versions of a record, the newer one has the greater handle: a fetched version gets its handle when it
/// arrives, a version made by a save when the request leaves.
package struct ContentHandle: Hashable, Comparable, Sendable {
    package let number: UInt64

    /// The first number that is neither read nor written.
    package static let limit: UInt64 = 1 << 62

    package init(_ number: UInt64) {
        self.number = number
    }

    package static func < (lhs: ContentHandle, rhs: ContentHandle) -> Bool { lhs.number < rhs.number }
}

/// A version of a record on the server, as far as this device knows it.
package struct KnownVersion: Equatable, Sendable {
    package var changeTag: String
    /// Where the whole record is stored.
    package var handle: ContentHandle
    /// What the contents hash to, the engine's own fields left out.
    package var hash: UInt64
    /// When the server saved it, by the server's clock.
    package var modified: Date?
    /// The bytes of its fields; 0 if nobody has counted them.
    package var size: Int

    package init(changeTag: String, handle: ContentHandle, hash: UInt64, modified: Date?, size: Int = 0) {
        self.changeTag = changeTag
        self.handle = handle
        self.hash = hash
        self.modified = modified
        self.size = size
    }
}

/// A change of this device that the server has not confirmed.
package struct LocalChange: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// The model's encoding, and an upper bound of the bytes that a request needs for it.
        case save(ContentHandle, size: Int)
        case delete
    }

    package var kind: Kind
    /// When the user made it; `nil` for models of `start(uploading:)`, which lose to any other edit.
    package var edited: Date?
    /// What the change was made on: the common ancestor.
    package var base: ContentHandle? {
        didSet { if base == nil { contested = nil } }
    }
    /// Field values of the ancestor that differ from those in `base`: the cloud has changed these fields since the edit
    /// began, so they are in conflict.
    package var contested: ContentHandle?
    /// Why it is not sent, if it is not.
    package var parked: ParkReason?

    package init(
        kind: Kind,
        edited: Date?,
        base: ContentHandle?,
        contested: ContentHandle? = nil,
        parked: ParkReason? = nil
    ) {
        self.kind = kind
        self.edited = edited
        self.base = base
        self.contested = contested
        self.parked = parked
    }

    /// The stored model; `nil` for a deletion.
    package var handle: ContentHandle? {
        if case .save(let handle, _) = kind { return handle }
        return nil
    }

    package var isDeletion: Bool { kind == .delete }
}

/// What a request carried, and the version that it was made from.
package struct SentVersion: Equatable, Sendable {
    package var handle: ContentHandle
    package var base: ContentHandle?
    /// Whether it left after a deletion whose outcome was unknown: once it is confirmed, that deletion is over.
    package var isBehindDeletion: Bool

    package init(handle: ContentHandle, base: ContentHandle?, isBehindDeletion: Bool = false) {
        self.handle = handle
        self.base = base
        self.isBehindDeletion = isBehindDeletion
    }
}

/// What the app has still to be told of a record.
package struct Undelivered: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// Changed elsewhere, or by a conflict; the handle is of what to show.
        case updated(ContentHandle)
        /// This device's upload was confirmed.
        case saved(ContentHandle)
        /// Deleted elsewhere.
        case deleted

        /// The contents to show; `nil` for a deletion.
        package var handle: ContentHandle? {
            switch self {
            case .updated(let handle), .saved(let handle): handle
            case .deleted: nil
            }
        }
    }

    package var kind: Kind
    /// What the app has seen once it accepts this.
    package var seen: ContentHandle?
    /// Grows with every change that is to be delivered: tells a renewed one from the one handed out.
    package var order: UInt64

    package init(kind: Kind, seen: ContentHandle?, order: UInt64) {
        self.kind = kind
        self.seen = seen
        self.order = order
    }
}

/// All that the engine remembers of one record: a few words, and handles of contents.
package struct RecordState: Equatable, Sendable {
    /// The cloud's last word; `nil` if the record is not there.
    package var known: KnownVersion?
    /// What the cloud had before its zone was lost: it goes up again, before any edit.
    package var lost: KnownVersion?
    /// The server does not take back what was lost.
    package var isLostRefused = false
    /// The newest contents that the app has received or uploaded: the base of its next upload.
    ///
    /// An edit of what this device shows leaves this unchanged, since the app may still hold an older copy.
    package var seen: ContentHandle?
    package var pending: LocalChange?
    /// Contents of requests whose outcome is not known: what the server may hold as our own writes.
    package var sent: [SentVersion] = []
    /// A request to delete the record has left, and its outcome is not known.
    package var isDeletionSent = false
    package var undelivered: Undelivered?
    /// The number of the full listing in which the record was last met.
    package var listing: UInt64 = 0
    /// The feed has passed a change of it that could not be read, so that it must be looked up.
    package var isUnread = false

    package init() {}

    /// Whether the pending edit does not know of the cloud's last word, so that both must be reconciled first.
    package var isInConflict: Bool {
        guard let pending, !pending.isDeletion, pending.parked == nil, lost == nil else { return false }
        return pending.base != known?.handle || pending.contested != nil
    }

    /// Whether the record's absence from the cloud is this device's own doing, and so nobody's news.
    package var isOwnDeletion: Bool {
        // If nothing is pending, the app has been shown the record again since it deleted it.
        guard let pending, pending.parked == nil else { return false }
        return isDeletionSent || pending.isDeletion
    }

    package var isSendable: Bool {
        if lost != nil { return !isLostRefused }
        guard let pending, pending.parked == nil else { return false }
        return pending.isDeletion || (pending.base == known?.handle && pending.contested == nil)
    }

    /// Whether reads show the pending change rather than the cloud's last word.
    package var isPendingOnTop: Bool {
        guard let pending else { return false }
        guard let reason = pending.parked else { return true }
        return !reason.isConflict && pending.base == lastKnown?.handle
    }

    /// Whether it knows a version of the zone, which is lost with the zone.
    package var hasVersions: Bool {
        // If the pending edit has no base, the app has seen only contents of its own.
        lastKnown != nil || pending?.base != nil || (seen != nil && pending == nil)
    }

    /// Whether the app has received or uploaded the pending edit.
    var isPendingSeen: Bool {
        guard let handle = pending?.handle else { return false }
        return seen == handle
    }

    /// The newer of two contents that the app has seen: the pending edit if it is on top, else the cloud's last word,
    /// else those with the greater handle.
    func newer(_ first: ContentHandle?, _ second: ContentHandle?) -> ContentHandle? {
        guard let first, let second else { return first ?? second }
        if isPendingOnTop, let edit = pending?.handle, first == edit || second == edit { return edit }
        if let known = known?.handle, first == known || second == known { return known }
        return max(first, second)
    }

    /// Whether reads may show these contents.
    func holds(_ handle: ContentHandle) -> Bool {
        known?.handle == handle || lost?.handle == handle || pending?.handle == handle
    }

    /// Forgets the cloud's last word, so that it is fetched again and the edit meets what comes.
    mutating func forgetKnownVersion() {
        known = nil
        if !isPendingSeen { seen = nil }
        pending?.base = nil
    }

    /// Nothing is left to remember.
    package var isEmpty: Bool { lastKnown == nil && pending == nil && undelivered == nil && !isUnread }
}
