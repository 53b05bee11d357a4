/// What a restart forgets about the subscription.
struct SubscriptionProgress: Sendable {
    /// How long the server is trusted to keep the subscription.
    static var validity: Duration { .seconds(24 * 3600) }

    /// When the server last had the subscription; `nil` if that wasn't checked since the start.
    var checkedAt: Duration?
    /// Whether the app was notified that subscribing failed.
    var hasToldOfFailure = false
    /// The calls that wait until the subscription is deleted.
    var removals: [CallID] = []

    /// Whether a call waits until the subscription is deleted.
    var isRemovalWanted: Bool { !removals.isEmpty }

    /// When the server is no longer trusted to have the subscription.
    var expiry: Duration? { checkedAt.map { $0 + Self.validity } }

    /// When to compare with the server again; `nil` if the app's calls are enough for that.
    func checkAt(_ context: SyncContext) -> Duration? {
        guard context.configuration.automaticallySyncs, context.now.isBefore(expiry) else { return nil }
        return expiry
    }
}
