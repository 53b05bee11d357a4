public import RecordCoding

public import struct Foundation.Date

/// One element of an engine's `changes`: at most 200 records of one kind.
public enum ModelChange<Model: RecordCodable>: Sendable {
    /// Changed on another device, or by a conflict: show these instead of what you have.
    case updated([Model])
    /// Your uploads, confirmed by the server.
    case saved([Model])
    /// Deleted on another device: the record names.
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

/// A change of this device that the server has not confirmed.
public struct PendingChange<Model: RecordCodable>: Sendable {
    /// The record's name.
    public var recordName: String
    /// The model to save; `nil` for a deletion, or if the model can no longer be decoded.
    public var model: Model?
    /// Whether the record is to be deleted.
    public var isDeletion: Bool
    /// When the user made the change; `nil` for models of `start(uploading:)`.
    public var edited: Date?
    /// Why it is still pending.
    public var stage: ChangeStage
}

/// A change that was set aside: both sides, and the reason.
public struct ParkedChange<Model: RecordCodable>: Sendable {
    /// The record's name.
    public var recordName: String
    /// This device's model; `nil` for a deletion, or if it can no longer be decoded.
    public var client: Model?
    /// The cloud's model; `nil` if there is none, or if it cannot be decoded.
    public var server: Model?
    /// Why the change was set aside.
    public var reason: ParkReason
}

extension PendingChange: Equatable where Model: Equatable {}
extension ParkedChange: Equatable where Model: Equatable {}

/// What becomes of the app's data after the user removed it from the cloud.
public enum PurgeAnswer: Hashable, Sendable {
    /// Everything that this device has is uploaded into a new zone: what the cloud had, and the edits that it
    /// never had. What the app has deleted since stays away.
    case uploadAgain
    /// Everything that the cloud had is removed from this device, and is told as `.deleted`.
    ///
    /// Edits that the cloud never had are kept, and go into a new zone: also those of records that it had, and
    /// those made since the purge, which are new data. To be rid of them as well, `discard` them first.
    case removeLocal
}

/// What came of a push.
public enum NotificationOutcome: Hashable, Sendable {
    /// Changes were fetched.
    case newData
    /// It was ours, and there was nothing new.
    case noData
    /// It was not for this engine.
    case notOurs
}

/// What an engine can tell about itself.
public struct SyncDiagnostics: Hashable, Sendable {
    /// The cloud's name.
    public var cloud: String
    /// The user whose state this is; `nil` if nobody has been confirmed yet.
    public var userRecordName: String?
    /// The account, as it was last looked up.
    public var accountStatus: AccountStatus?
    /// What the engine is doing.
    public var status: SyncStatus
    /// Records that the cloud has, as far as this device knows.
    public var knownCount: Int
    /// Changes that are waiting to be sent.
    public var pendingCount: Int
    /// Changes that were set aside.
    public var parkedCount: Int
    /// Records of which the app has still to be told something.
    public var undeliveredCount: Int
    /// Records of which the cloud's value could not be decoded since the engine was opened, in order of names.
    public var undecodable: [String] = []
    /// When a fetch last reached the end of the feed.
    public var lastFetch: Date?
    /// The directory of the state; `nil` in memory.
    public var stateDirectory: String?
    /// Discarded values, parkings and recoveries: the last 1000, oldest first, over restarts.
    public var notes: [SyncNote]
}
