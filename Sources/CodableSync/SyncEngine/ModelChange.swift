public import RecordCoding

public import struct Foundation.Date

/// One element of an engine's `changes`: at most 200 records of one kind.
public enum ModelChange<Model: RecordCodable>: Sendable {
    /// Models that were changed on another device or by a conflict; show them in place of your copies.
    case updated([Model])
    /// Models that this device uploaded and the server has confirmed.
    case saved([Model])
    /// The names of records that were deleted on another device.
    case deleted([String])
}

extension ModelChange: Equatable where Model: Equatable {}

extension ModelChange {
    /// The record names of the element.
    var names: [String] {
        switch self {
        case .updated(let models), .saved(let models): models.map(\.recordName)
        case .deleted(let names): names
        }
    }
}

/// What happens to the app's data after the user removed it from the cloud.
public enum PurgeAnswer: Hashable, Sendable {
    /// Uploads everything on this device into a new zone: what the cloud had, and edits that it never had.
    /// Records that the app has deleted since are not uploaded.
    case uploadAgain
    /// Removes everything that the cloud had from this device, and delivers it as `.deleted`.
    ///
    /// Edits that the cloud never had are kept and uploaded into a new zone, including edits of records that
    /// the cloud had and edits made since the purge. To drop them as well, call `discard` first.
    case removeLocal
}

/// The result of handling a push.
public enum NotificationOutcome: Hashable, Sendable {
    /// Changes were fetched.
    case newData
    /// The push was for this engine, and nothing new was fetched.
    case noData
    /// The push was not for this engine.
    case notOurs
}

/// Information about an engine's state.
public struct SyncDiagnostics: Hashable, Sendable {
    /// The cloud's name.
    public var cloud: String
    /// The user who owns the state; `nil` if no user has been confirmed yet.
    public var userRecordName: String?
    /// The account's status when it was last looked up.
    public var accountStatus: AccountStatus?
    /// What the engine is doing.
    public var status: SyncStatus
    /// The number of records that this device knows to be in the cloud.
    public var knownCount: Int
    /// The number of changes that are waiting to be sent.
    public var pendingCount: Int
    /// The number of parked changes.
    public var parkedCount: Int
    /// The number of records with a change that the app has not accepted.
    public var undeliveredCount: Int
    /// The records whose cloud version could not be decoded since the engine was opened, in order of their
    /// names.
    public var undecodable: [String] = []
    /// When a fetch last reached the end of the feed.
    public var lastFetch: Date?
    /// The directory of the state; `nil` if the state is in memory.
    public var stateDirectory: String?
    /// The last 1000 notes about discarded values, parked changes and recoveries, oldest first; they survive
    /// restarts.
    public var notes: [SyncNote]
}
