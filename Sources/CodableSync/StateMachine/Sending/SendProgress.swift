/// What a restart forgets about sending.
struct SendProgress: Sendable {
    /// The items of the request in flight.
    var inFlight = InFlight()
    var isOverQuota = false
    /// Whether the app was notified of the exceeded quota; reset when a change is saved or deleted.
    var hasToldOfQuota = false
    var planner: RequestPlanner

    init(_ configuration: MachineConfiguration) {
        planner = RequestPlanner(
            maximumItems: configuration.maximumItems,
            maximumBytes: configuration.maximumBytes
        )
    }
}
