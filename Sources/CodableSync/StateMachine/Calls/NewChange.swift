import RecordCoding

import struct Foundation.Date

/// A change that the app makes; its contents are staged under the handle.
package struct NewChange: Equatable, Sendable {
    package var name: String
    package var recordType: ExactName
    package var kind: LocalChange.Kind
    package var edited: Date?
    /// The hash of the model's fields; `nil` for a deletion.
    package var hash: UInt64?
    /// Whether the app had the model before its first sync: such models are queued only once and have no
    /// ancestor.
    package var isInitial = false
    /// Whether this app cannot read the version that reads would show, so that it is no base.
    package var isUnreadable = false
    /// The version that an edit is based on; `nil` for an upload or a deletion of the whole record.
    package var basis: EditBase?

    package init(
        name: String,
        recordType: ExactName,
        kind: LocalChange.Kind,
        edited: Date?,
        isInitial: Bool = false,
        basis: EditBase? = nil
    ) {
        self.name = name
        self.recordType = recordType
        self.kind = kind
        self.edited = edited
        self.isInitial = isInitial
        self.basis = basis
    }

    /// Creates the save of a model that is staged.
    ///
    /// - Parameters:
    ///   - record: The encoded model.
    ///   - handle: The handle under which it is staged.
    ///   - edited: When the user made the change.
    ///   - basis: The version that an edit is based on; `nil` for an upload of the whole record.
    init(saving record: Record, as handle: ContentHandle, edited: Date?, basis: EditBase? = nil) {
        self.init(
            name: record.recordID.recordName,
            recordType: ExactName(record.recordType),
            kind: .save(handle, size: record.size),
            edited: edited,
            basis: basis
        )
        hash = record.contentHash
    }
}
