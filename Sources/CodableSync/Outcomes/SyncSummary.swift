/// What a call to `sync`, `sendChanges` or `fetchChanges` did.
public struct SyncSummary: Hashable, Sendable {
    /// Records that the server saved.
    public var sent = 0
    /// Records that the server deleted at this device's wish.
    public var deleted = 0
    /// Records that were changed or deleted elsewhere.
    public var fetched = 0
    /// Records among those fetched that cannot be decoded.
    ///
    /// They are kept, and not delivered; ``SyncEvent/undecodable(recordName:reason:)`` names each of them.
    public var undecodable = 0
    /// Conflicts that the model decided.
    public var conflictsResolved = 0
    /// Changes that were set aside.
    public var parked = 0
    /// Changes that are still waiting when the call returns.
    public var pending = 0

    /// Makes an empty summary.
    public init() {}
}
