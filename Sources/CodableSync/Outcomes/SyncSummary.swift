/// The result of a call to `sync`, `sendChanges` or `fetchChanges`.
public struct SyncSummary: Hashable, Sendable {
    /// The number of records that the server saved for this device, even if the response was lost.
    ///
    /// An edit equal to the cloud's version is neither sent nor counted.
    public var sent = 0
    /// The number of records that the server deleted at this device's request; records that this device did
    /// not know are not counted.
    public var deleted = 0
    /// The number of records changed or deleted by other devices, found in a page, a look-up or a conflict, or deleted
    /// with their zone.
    public var fetched = 0
    /// The number of fetched records that cannot be decoded.
    ///
    /// The engine keeps them and does not deliver them; ``SyncEvent/undecodable(recordName:reason:)`` names
    /// each one.
    public var undecodable = 0
    /// The number of conflicts that the model resolved, without those in which it threw.
    public var conflictsResolved = 0
    /// The number of changes that are parked when the call returns, by this call or earlier; each is counted by every
    /// call until the app retries or discards it.
    public var parked = 0
    /// The number of changes that are still waiting when the call returns, without parked ones.
    public var pending = 0

    /// Creates an empty summary.
    package init() {}
}
