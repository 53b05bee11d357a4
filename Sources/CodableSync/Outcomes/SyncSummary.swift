/// The result of a call to `sync`, `sendChanges` or `fetchChanges`.
public struct SyncSummary: Hashable, Sendable {
    /// The number of records that the server saved for this device, even if the response was lost.
    ///
    /// An edit equal to the cloud's version is neither sent nor counted.
    public var sent = 0
    /// The number of known records that the server deleted at this device's request.
    public var deleted = 0
    /// The number of records changed or deleted by other devices, found in a page, a look-up or a conflict.
    public var fetched = 0
    /// The number of fetched records that cannot be decoded.
    ///
    /// The engine keeps them but doesn't deliver them; ``SyncEvent/undecodable(recordName:reason:)`` names
    /// each one.
    public var undecodable = 0
    /// The number of conflicts that the model resolved, excluding those in which it threw.
    public var conflictsResolved = 0
    /// The number of changes parked during the call.
    public var parked = 0
    /// The number of changes still waiting when the call returns, excluding parked ones.
    public var pending = 0

    /// Creates an empty summary.
    public init() {}
}
