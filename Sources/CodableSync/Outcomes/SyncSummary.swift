/// What a call to `sync`, `sendChanges` or `fetchChanges` did.
public struct SyncSummary: Hashable, Sendable {
    /// Records that requests carried and the server saved, those whose answers were lost on the way among them.
    ///
    /// An edit that says what the cloud has already is not sent, and not counted.
    public var sent = 0
    /// Records that this device knew of, and that the server deleted at its wish.
    public var deleted = 0
    /// Records that were changed or deleted elsewhere, by whatever way this device came to know of it.
    public var fetched = 0
    /// Records among those fetched that cannot be decoded.
    ///
    /// They are kept, and not delivered; ``SyncEvent/undecodable(recordName:reason:)`` names each of them.
    public var undecodable = 0
    /// Conflicts that the model decided; not those in which it threw, which are parked.
    public var conflictsResolved = 0
    /// Changes that were set aside during the call.
    public var parked = 0
    /// Changes that are still waiting when the call returns; parked ones are not.
    public var pending = 0

    /// Makes an empty summary.
    public init() {}
}
