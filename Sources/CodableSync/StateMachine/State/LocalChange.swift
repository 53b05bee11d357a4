import struct Foundation.Date

/// A change of this device that the server has not confirmed.
package struct LocalChange: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// The encoded model, and an upper bound for its size in a request in bytes.
        case save(ContentHandle, size: Int)
        case delete
    }

    package var kind: Kind
    /// When the user made the change; `nil` for models of `uploadOnce`, which are older than any other
    /// edit.
    package var edited: Date?
    /// The hash of the model's fields; `nil` for a deletion, and if it is not known.
    package var hash: UInt64?
    /// Whether it repeats a deletion, because a late creation of this device has undone that.
    package var isRepetition = false
    /// What the change was made on.
    package var on: EditBase
    /// The first and the last of this device's edits on the same base that this one has replaced; without a base, the
    /// first is the creation of the record.
    package var earlier: [ContentHandle] = []
    /// Why the change is parked; `nil` if it is not.
    package var parked: ParkReason?

    package init(
        kind: Kind,
        edited: Date?,
        base: ContentHandle?,
        contested: ContentHandle? = nil,
        parked: ParkReason? = nil
    ) {
        self.init(kind: kind, edited: edited, on: EditBase(base, contested: contested))
        self.parked = parked
    }

    package init(kind: Kind, edited: Date?, on base: EditBase) {
        self.kind = kind
        self.edited = edited
        on = base
    }

    /// The version on which the change was made: the common ancestor in a conflict.
    package var base: ContentHandle? { on.version }

    /// The stored model; `nil` for a deletion.
    package var handle: ContentHandle? {
        if case .save(let handle, _) = kind { return handle }
        return nil
    }

    package var isDeletion: Bool { kind == .delete }

    /// Whether the resolver must decide although the change is based on the cloud's latest version.
    var isUndecided: Bool { on.contested != nil || !on.sides.isEmpty }

    /// Every handle that the change names.
    var named: [ContentHandle] {
        [handle].compactMap { $0 } + on.named + earlier
    }
}
