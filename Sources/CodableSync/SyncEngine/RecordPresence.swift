public import RecordCoding

/// What a device knows about a record.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RecordPresence<Model: RecordCodable>: Sendable {
    /// The record is here; this is its newest model that this version of the app can read.
    case here(Model)
    /// The record is deleted: this device has yet to confirm its own deletion, or the app has yet to be given
    /// another device's.
    ///
    /// After that, nothing about the record is kept, and it is ``unknown``.
    case deleted
    /// The record is here, and this version of the app never had a version that it can read; ``SyncEvent/undecodable(recordName:reason:)``
    /// says why. Do not upload a model in its place.
    case undecodable
    /// This device has no such record.
    case unknown
}

extension RecordPresence: Equatable where Model: Equatable {}
