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
    /// Whether this app cannot read the version that reads would show, so that it is no base.
    package var isUnreadable = false
    /// The version that an edit is based on; `nil` for an upload or a deletion of the whole record.
    package var basis: Basis?

    package struct Basis: Equatable, Sendable {
        package var handle: ContentHandle?
        package var contested: ContentHandle?
        package var sides: [LocalChange.Side] = []
        package var isMerged = false

        package init(_ handle: ContentHandle?, contested: ContentHandle? = nil) {
            self.handle = handle
            self.contested = contested
        }

        /// The basis of an edit of what a record shows.
        init(_ basis: EditBasis) {
            self.init(basis.base, contested: basis.contested)
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
}
