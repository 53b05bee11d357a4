/// The stage of a change that the server has not confirmed.
package enum ChangeStage: Equatable, Sendable {
    case queued
    case inFlight
    case inConflict
    case parked(ParkReason)
}
