/// What a call to `sync`, `sendChanges` or `fetchChanges` did.
public struct SyncSummary: Hashable, Sendable {
    /// Records that requests carried and the server saved, even if the response was lost.
    ///
    /// An edit equal to the cloud's version is neither sent nor counted.
    public var sent = 0
    /// Records known to this device that the server deleted at its request.
    public var deleted = 0
    /// Records that were changed or deleted elsewhere, whether a page, a look-up or a conflict brought the news.
    public var fetched = 0
    /// Fetched records that cannot be decoded.
    ///
    /// The engine keeps them and does not deliver them; ``SyncEvent/undecodable(recordName:reason:)`` names each one.
    public var undecodable = 0
    /// Conflicts that the model resolved, without those in which it threw.
    public var conflictsResolved = 0
    /// Changes that were parked during the call.
    public var parked = 0
    /// Changes that are still waiting when the call returns, without parked ones.
    public var pending = 0

    /// Makes an empty summary.
    public init() {}
}
