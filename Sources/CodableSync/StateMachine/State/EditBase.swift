/// What an edit was made on.
package struct EditBase: Equatable, Sendable {
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

    /// A version that was lost with its zone.
    package struct Lost: Equatable, Sendable {
        package var version: ContentHandle
        /// Field values that the version had when the edit began, in place of those that it had last.
        package var contested: ContentHandle?
        /// Whether it was to be uploaded again, so that it competes with the version in the next zone.
        package var isUploadedAgain: Bool

        package init(_ version: ContentHandle, contested: ContentHandle? = nil, isUploadedAgain: Bool) {
            self.version = version
            self.contested = contested
            self.isUploadedAgain = isUploadedAgain
        }
    }

    /// The common ancestor in a conflict with the cloud's latest version; `nil` if there is none.
    package var version: ContentHandle? {
        didSet { if version == nil { contested = nil } else { lost = nil } }
    }
    /// What the change was made on instead, before the zone was lost; it is no ancestor, but tells what was edited.
    package var lost: Lost?
    /// Field values of the ancestor that differ from those in the version: the cloud has changed these fields since
    /// the edit began, so they are in conflict.
    package var contested: ContentHandle?
    /// This device's edits that the resolver must decide against before the cloud's version, the last one first.
    package var sides: [Side] = []
    /// Whether a version of the cloud was merged into the edit.
    package var isMerged = false

    package init(_ version: ContentHandle?, contested: ContentHandle? = nil) {
        self.version = version
        self.contested = contested
    }

    /// What the cloud had, or has lost with the zone, when the change was made.
    var cloudVersion: ContentHandle? { version ?? lost?.version }

    /// Field values of that version that differ from those that it had when the edit began.
    var contestedFields: ContentHandle? { version == nil ? lost?.contested : contested }

    /// Every handle that it names.
    var named: [ContentHandle] {
        [version, contested, lost?.version, lost?.contested].compactMap { $0 }
            + sides.flatMap { [$0.edit, $0.ancestor] }
    }
}
