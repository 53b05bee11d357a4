public import RecordCoding

/// A model before and after an edit.
///
/// ```swift
/// let edit = try await engine.edit(landmark) { $0.isFavorite = true }
/// try await engine.upload(edit.before, editedFrom: edit.after)      // undo
/// ```
public struct ModelEdit<Model: RecordCodable>: Sendable {
    /// The model that was passed to the closure: the newest on this device.
    public let before: Model
    /// The model as the closure left it.
    public let after: Model
}

extension ModelEdit: Equatable where Model: Equatable {}
