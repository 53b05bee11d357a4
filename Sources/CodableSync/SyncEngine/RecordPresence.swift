public import RecordCoding

/// What a device knows about a record.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RecordPresence<Model: RecordCodable>: Sendable {
    /// The record is here; this is its newest model that this version of the app can read.
    case here(Model)
    /// The record is deleted: the server hasn't confirmed this device's deletion yet, or the app hasn't accepted
    /// another device's deletion yet.
    ///
    /// After that, the engine keeps nothing about the record, and it is ``unknown``.
    case deleted
    /// The record is here, but this version of the app can't decode it, and never had a version that it could
    /// decode; ``SyncEvent/undecodable(recordName:reason:)`` has the reason. Don't upload a model in its place.
    case undecodable
    /// This device has no such record.
    case unknown
}

extension RecordPresence: Equatable where Model: Equatable {}
