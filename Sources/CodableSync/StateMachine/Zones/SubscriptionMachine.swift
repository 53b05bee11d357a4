import RecordCoding

/// The subscription to the zone's changes; sync works without one and does not wait for it.
struct SubscriptionMachine: Sendable {
    /// The zone that is subscribed to.
    let zone: ZoneNumber
    var lane = Lane(retry: .subscriptionRetry)
    /// Whether the app was notified that subscribing failed.
    private var hasToldOfFailure = false

    init(_ zone: ZoneNumber) {
        self.zone = zone
    }

    /// Creates the subscription if there is none.
    mutating func advance(_ context: inout SyncContext) {
        guard !context.state.zone(zone).isSubscribed, !lane.isBusy, !lane.isWaiting(at: context.now) else {
            return
        }
        lane.begin(.subscribe, &context)
    }

    mutating func take(_ request: RequestID, _ error: CloudError?, _ context: inout SyncContext) {
        guard lane.takes(request, &context) else { return }
        guard let error else {
            lane.beginStoring()
            return context.append([.zones(.subscribed(zone))], then: .subscribed)
        }
        context.applyRetryAfter(of: error)
        switch error.recovery {
        case .recreateZone, .askUser, .uploadEverything:
            // The zone is gone; the next zone gets a new subscription.
            context.tell(.zoneMissing(error))
        default:
            // Sync works without a subscription: the engine polls, and retries after a wait.
            lane.backOff(after: error, &context)
            if !hasToldOfFailure { context.emit(.subscriptionFailed(error)) }
            hasToldOfFailure = true
        }
    }

    mutating func takeStored() {
        lane.endStoring()
        lane.succeed()
        hasToldOfFailure = false
    }

    /// Starts over after the loss of the zone, whose subscription is lost with it.
    mutating func takeZoneLost(_ context: inout SyncContext) {
        lane.abandon(&context)
        lane.endWait(&context)
        self = SubscriptionMachine(zone)
    }
}
