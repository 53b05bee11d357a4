public import struct Foundation.Date

/// Information about an engine's state.
public struct SyncDiagnostics: Hashable, Sendable {
    /// The cloud's name.
    public var cloud: String
    /// The user who owns the state; `nil` if no user has been confirmed yet.
    public var userRecordName: String?
    /// The account's status at the last look-up.
    public var accountStatus: AccountStatus?
    /// What the engine is doing.
    public var status: SyncStatus
    /// The number of records that this device knows to be in the cloud.
    public var knownCount: Int
    /// The number of changes waiting to be sent.
    public var pendingCount: Int
    /// The number of parked changes.
    public var parkedCount: Int
    /// The number of records with a change that the app has not accepted yet: see ``SyncEngine/changes``.
    public var undeliveredCount: Int
    /// The records whose cloud version couldn't be decoded since the engine opened, or was written by a newer
    /// version of the app, sorted by name.
    public var undecodable: [String] = []
    /// When a fetch last reached the end of the feed.
    public var lastFetch: Date?
    /// The directory of the state; `nil` if the state is in memory.
    public var stateDirectory: String?
    /// The last 1000 notes about discarded values, parked changes and recoveries, oldest first; they survive
    /// restarts.
    public var notes: [SyncNote]
}
