public import RecordCoding

public import struct Foundation.Date

/// A change on this device that the server has not confirmed.
///
/// ```swift
/// for change in try await engine.pendingChanges() {
///     guard let reason = change.parkReason else { continue }      // sent by itself
///     show(change.client, change.server, reason.message)
/// }
/// ```
public struct PendingChange<Model: RecordCodable>: Sendable {
    /// The stages of a change.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Stage: Hashable, Sendable {
        /// The change is waiting to be sent.
        case queued
        /// A request with the change is in flight.
        case inFlight
        /// The change must be reconciled with the cloud's latest version first.
        case inConflict
        /// The change is not sent until ``SyncEngine/retry(named:)`` is called or a new edit replaces it.
        case parked(ParkReason)
    }

    /// The record's name.
    public var recordName: String
    /// This device's model; `nil` for a deletion, or if the model can no longer be decoded.
    public var client: Model?
    /// The cloud's model, if the change is parked; `nil` if there is none, or if it cannot be decoded.
    public var server: Model?
    /// Whether the record is to be deleted.
    public var isDeletion: Bool
    /// When the user made the change; `nil` for models of ``SyncEngine/uploadOnce(forEachUser:progress:_:)``.
    public var edited: Date?
    /// The stage of the change.
    public var stage: Stage

    /// Why the change is parked; `nil` if it is not.
    public var parkReason: ParkReason? {
        if case .parked(let reason) = stage { reason } else { nil }
    }
}

extension PendingChange: Equatable where Model: Equatable {}

extension PendingChange.Stage {
    init(_ stage: ChangeStage) {
        self =
            switch stage {
            case .queued: .queued
            case .inFlight: .inFlight
            case .inConflict: .inConflict
            case .parked(let reason): .parked(reason)
            }
    }
}
