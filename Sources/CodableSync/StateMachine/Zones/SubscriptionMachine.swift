import RecordCoding

/// Maintains the subscription to the zone's changes; sync works without one and doesn't wait for it.
///
/// A server may lose a subscription, and pushes then stop silently. So the machine checks the server's
/// subscriptions at each start and once a day.
struct SubscriptionMachine: Sendable {
    /// How long the machine trusts the server to keep the subscription.
    static var validity: Duration { .seconds(24 * 3600) }

    /// The subscribed zone.
    let zone: ZoneNumber
    var lane = Lane()
    /// When the server last had the subscription; `nil` if the machine hasn't checked since the start.
    private var checkedAt: Duration?
    /// Whether the app was notified that subscribing failed.
    private var hasToldOfFailure = false
    /// The calls that wait until the subscription is deleted.
    private var removals: [CallID] = []
    /// Whether the lane's request deletes the subscription.
    private var isDeleting = false

    init(_ zone: ZoneNumber) {
        self.zone = zone
    }

    /// Whether a call waits until the subscription is deleted.
    var isRemovalWanted: Bool { !removals.isEmpty }

    // MARK: Subscribing

    /// Creates the subscription if there is none, or if the server may have lost it.
    mutating func advance(_ context: inout SyncContext) {
        guard !lane.isBusy, !lane.isWaiting(at: context.now), !isRemovalWanted else { return }
        let isMade = context.state.zone(zone).isSubscribed
        if isMade, let checkedAt, context.now.monotonic < checkedAt + Self.validity { return }
        isDeleting = false
        lane.begin(.subscribe(isMade: isMade), &context)
    }

    /// When to compare with the server again; `nil` if the app's calls are enough for that.
    func checkAt(_ context: SyncContext) -> Duration? {
        guard context.configuration.automaticallySyncs, let checkedAt else { return nil }
        let instant = checkedAt + Self.validity
        return instant > context.now.monotonic ? instant : nil
    }

    /// Compares with the server again, since the app has started the engine.
    mutating func takeStart() {
        checkedAt = nil
    }

    mutating func take(_ request: RequestID, _ error: CloudError?, _ context: inout SyncContext) {
        guard lane.takes(request) else { return }
        if isDeleting { return takeDeleted(error, &context) }
        guard let error else { return takeSubscribed(&context) }
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

    private mutating func takeSubscribed(_ context: inout SyncContext) {
        checkedAt = context.now.monotonic
        if !context.state.zone(zone).isSubscribed { context.append([.zones(.subscribed(zone))]) }
        lane.succeed()
        hasToldOfFailure = false
    }

    /// Starts over after the loss of the zone, whose subscription is lost with it.
    mutating func takeZoneLost(_ context: inout SyncContext) {
        lane.abandon()
        lane.endWait()
        self = SubscriptionMachine(continuing: self, zone)
    }

    // MARK: Deleting

    /// Creates the machine for another zone or user, which serves the waiting calls.
    init(continuing former: SubscriptionMachine, _ zone: ZoneNumber) {
        self.zone = zone
        removals = former.removals
    }

    /// Deletes the subscription for a call.
    mutating func remove(for call: CallID) {
        checkedAt = nil
        removals.append(call)
    }

    /// Deletes the subscription if a call waits for it, after the request in flight.
    mutating func advanceRemoval(_ context: inout SyncContext) {
        guard isRemovalWanted, !lane.isBusy else { return }
        lane.endWait()
        isDeleting = true
        lane.begin(.unsubscribe, &context)
    }

    private mutating func takeDeleted(_ error: CloudError?, _ context: inout SyncContext) {
        guard let error else { return answer(.done, &context) }
        context.applyRetryAfter(of: error)
        switch error.recovery {
        // There is none, or its zone is gone.
        case .acceptDeletion, .recreateZone, .askUser, .uploadEverything: answer(.done, &context)
        default: answer(.failed(.cloud(error)), &context)
        }
    }

    /// Answers the calls that wait until the subscription is deleted.
    mutating func answer(_ answer: CallAnswer, _ context: inout SyncContext) {
        for call in removals { context.actions.append(.answer(call, answer)) }
        removals = []
    }
}
