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

/// A change on this device that the server has not confirmed.
public struct PendingChange<Model: RecordCodable>: Sendable {
    /// The record's name.
    public var recordName: String
    /// The model to save; `nil` for a deletion, or if the model can no longer be decoded.
    public var model: Model?
    /// Whether the record is to be deleted.
    public var isDeletion: Bool
    /// When the user made the change; `nil` for models of `start(uploading:)`.
    public var edited: Date?
    /// The stage of the change.
    public var stage: ChangeStage
}

/// A parked change: both sides, and the reason.
public struct ParkedChange<Model: RecordCodable>: Sendable {
    /// The record's name.
    public var recordName: String
    /// This device's model; `nil` for a deletion, or if it can no longer be decoded.
    public var client: Model?
    /// The cloud's model; `nil` if there is none, or if it cannot be decoded.
    public var server: Model?
    /// Why the change is parked.
    public var reason: ParkReason
}

extension PendingChange: Equatable where Model: Equatable {}
extension ParkedChange: Equatable where Model: Equatable {}
