/// The stage of a change that the server has not confirmed.
public enum ChangeStage: Hashable, Sendable {
    /// The change is waiting to be sent.
    case queued
    /// A request with the change is in flight.
    case inFlight
    /// The change must be reconciled with the cloud's latest version first.
    case inConflict
    /// The change is parked.
    case parked(ParkReason)
}
