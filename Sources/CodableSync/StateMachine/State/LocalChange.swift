import struct Foundation.Date

/// A change of this device that the server has not confirmed.
package struct LocalChange: Equatable, Sendable {
    /// An edit of this device into which other devices' changes were merged, or will be; the change was made without
    /// having seen all of it.
    package struct Side: Equatable, Sendable {
        package var edit: ContentHandle
        /// Field values of the common ancestor that differ from those in the edit.
        package var ancestor: ContentHandle

        package init(edit: ContentHandle, ancestor: ContentHandle) {
            self.edit = edit
            self.ancestor = ancestor
        }
    }

    package enum Kind: Equatable, Sendable {
        /// The encoded model, and an upper bound for its size in a request in bytes.
        case save(ContentHandle, size: Int)
        case delete
    }

    package var kind: Kind
    /// When the user made the change; `nil` for models of `uploadOnce`, which are older than any other
    /// edit.
    package var edited: Date?
    /// The version on which the change was made: the common ancestor in a conflict.
    package var base: ContentHandle? {
        didSet { if base == nil { contested = nil } }
    }
    /// Field values of the ancestor that differ from those in `base`: the cloud has changed these fields
    /// since the edit began, so they are in conflict.
    package var contested: ContentHandle?
    /// This device's edits that the resolver must decide against before the cloud's version, the last one first.
    package var sides: [Side] = []
    /// Whether a version of the cloud was merged into the edit.
    package var isMerged = false
    /// This device's edits on the same base that this one has replaced, the last one last; at most
    /// ``maximumEarlier``.
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

    /// Whether the resolver must decide although the change is based on the cloud's latest version.
    var isUndecided: Bool { contested != nil || !sides.isEmpty }

    /// A screen may have begun with an edit that others have replaced since.
    static var maximumEarlier: Int { 2 }

    /// Every handle that the change names.
    var named: [ContentHandle] {
        [handle, base, contested].compactMap { $0 } + sides.flatMap { [$0.edit, $0.ancestor] } + earlier
    }
}
