/// Where a change stands that the server has not confirmed.
public enum ChangeStage: Hashable, Sendable {
    /// It waits for its turn.
    case queued
    /// A request with it is under way.
    case inFlight
    /// It must be reconciled with the cloud's last word first.
    case inConflict
    /// It is set aside.
    case parked(ParkReason)
}
