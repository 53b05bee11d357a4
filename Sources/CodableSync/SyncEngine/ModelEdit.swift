public import RecordCoding

/// What an edit was made on, and what came of it.
///
/// ```swift
/// let edit = try await engine.edit(landmark) { $0.isFavorite = true }
/// try await engine.upload(edit.before, editedFrom: edit.after)      // undone
/// ```
public struct ModelEdit<Model: RecordCodable>: Sendable {
    /// The model as this device knew it: what the closure was given.
    public let before: Model
    /// The model as the closure left it.
    public let after: Model
}

extension ModelEdit: Equatable where Model: Equatable {}

/// What an edit does where this device knows of no such record.
public enum MissingRecord: Hashable, Sendable {
    /// It throws ``SyncError/recordNotFound(_:)``.
    case fail
    /// It creates the record from the model that was passed.
    case create
}
