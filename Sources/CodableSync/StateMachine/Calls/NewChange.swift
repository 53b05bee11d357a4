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
}
