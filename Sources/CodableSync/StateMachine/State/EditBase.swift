/// What an edit was made on.
package struct EditBase: Equatable, Sendable {
    package enum Origin: Equatable, Sendable {
        /// Nothing, as for a new record, or it is not known what; a version of the cloud is in conflict with the edit.
        case nothing
        /// A version of the cloud, which is the common ancestor in a conflict with a later one.
        ///
        /// The contested field values of the ancestor differ from those in the version: the cloud had changed these
        /// fields already, so they are in conflict.
        case version(ContentHandle, contested: ContentHandle?)
        /// A version that was lost with its zone, which the edit may be itself: no ancestor, but it tells what was
        /// edited.
        case lost(Lost)
    }

    package struct Lost: Equatable, Sendable {
        package var version: ContentHandle
        /// Whether it was to be uploaded again, so that it competes with the version in the next zone.
        package var isUploadedAgain: Bool

        package init(_ version: ContentHandle, isUploadedAgain: Bool) {
            self.version = version
            self.isUploadedAgain = isUploadedAgain
        }
    }

    /// What the edit was made without having seen all of it, and must be decided against: what this device showed
    /// before, or a version that was lost with its zone.
    package struct Side: Equatable, Sendable {
        package var edit: ContentHandle
        /// Field values of the common ancestor that differ from those in the side; `nil` if the edit was made on
        /// something else, so that it is laid over the side.
        package var ancestor: ContentHandle?
        /// The contested fields of the side itself.
        package var contested: ContentHandle?

        /// Whether it is this device's own, so that the edit is later whatever their dates are.
        package var isOwn: Bool

        package init(
            edit: ContentHandle,
            ancestor: ContentHandle?,
            contested: ContentHandle? = nil,
            isOwn: Bool = false
        ) {
            self.edit = edit
            self.ancestor = ancestor
            self.contested = contested
            self.isOwn = isOwn
        }

        /// Every handle that it names.
        var named: [ContentHandle] { [edit, ancestor, contested].compactMap { $0 } }
    }

    package var origin: Origin
    /// What the resolver must decide against before the cloud's version, the last one first.
    package var sides: [Side] = []
    /// Whether a version of the cloud was merged into the edit.
    package var isMerged = false

    package init(_ origin: Origin, sides: [Side] = []) {
        self.origin = origin
        self.sides = sides
    }

    package init(_ version: ContentHandle?, contested: ContentHandle? = nil) {
        origin = version.map { .version($0, contested: contested) } ?? .nothing
    }

    /// The common ancestor in a conflict with the cloud's latest version; `nil` if there is none.
    package var version: ContentHandle? { if case .version(let version, _) = origin { version } else { nil } }

    /// Field values of the ancestor that differ from those in the version.
    package var contested: ContentHandle? {
        if case .version(_, let contested) = origin { contested } else { nil }
    }

    package var lost: Lost? { if case .lost(let lost) = origin { lost } else { nil } }

    /// What the cloud had, or has lost with the zone, when the change was made: the version whose values the edit
    /// leaves in the fields that it does not have.
    var below: ContentHandle? { version ?? lost?.version }

    /// Sets another version as the ancestor; fields that were contested are so no longer.
    mutating func move(to version: ContentHandle?, contested: ContentHandle? = nil) {
        origin = EditBase(version, contested: contested).origin
    }

    /// Whether all that an edit is decided against is a version that is gone with its zone.
    func isOnlyAgainst(_ side: Side) -> Bool {
        origin == .lost(Lost(side.edit, isUploadedAgain: false)) && sides == [side]
    }

    /// Ends the side that was decided against; the edit is made on it now if it was laid over it.
    mutating func endSide() {
        let side = sides.removeLast()
        if side.ancestor == nil { origin = .lost(Lost(side.edit, isUploadedAgain: true)) }
    }

    /// Forgets the ancestor.
    mutating func forgetVersion() {
        if version != nil { origin = .nothing }
    }

    /// Ends that the version is an ancestor, because it was lost with its zone.
    ///
    /// What was in conflict with the version still is, so that becomes a side.
    mutating func lose(isUploadedAgain: Bool) {
        guard let version else { return }
        if let contested { sides.insert(Side(edit: version, ancestor: contested), at: 0) }
        origin = .lost(Lost(version, isUploadedAgain: isUploadedAgain))
    }

    /// Names another copy of the version.
    mutating func repoint(from former: ContentHandle, to version: ContentHandle) {
        if self.version == former { move(to: version, contested: contested) }
    }

    /// Every handle that it names.
    var named: [ContentHandle] {
        [below, contested].compactMap { $0 } + sides.flatMap(\.named)
    }
}
