import RecordCoding

import struct Foundation.Date

/// A change that the app makes; its contents are staged under the handle.
package struct NewChange: Equatable, Sendable {
    package var name: String
    package var recordType: ExactName
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
        package var sides: [LocalChange.Side] = []
        package var isMerged = false
        /// What the app has after the edit; `nil` if that didn't change.
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

        /// The basis of an edit of what a record shows.
        init(_ basis: EditBasis, contested: ContentHandle?, copy: ContentHandle?) {
            self.init(basis.base, contested: contested, copy: copy)
            sides = basis.sides
            isMerged = basis.isMerged
        }
    }

    package init(
        name: String,
        recordType: ExactName,
        kind: LocalChange.Kind,
        edited: Date?,
        isInitial: Bool = false,
        basis: Basis? = nil
    ) {
        self.name = name
        self.recordType = recordType
        self.kind = kind
        self.edited = edited
        self.isInitial = isInitial
        self.basis = basis
    }

    /// Marks stored contents as seen.
    package init(name: String, recordType: ExactName, seen: ContentHandle) {
        self.init(name: name, recordType: recordType, kind: .save(seen, size: 0), edited: nil)
        isSeenOnly = true
    }
}
