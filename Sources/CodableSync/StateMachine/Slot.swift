/// The slot that requests about zones and records share: one is in flight at a time.
///
/// Its response is stored before the next request is sent, so no two responses cross.
/// Look-ups come first; pages and sends take turns. A waiting lane does not occupy the slot. The account
/// look-up and the subscription do not need it.
struct Slot: Equatable, Sendable {
    /// How long a change waits for a page or a look-up before that request is abandoned.
    static var patience: Duration { .seconds(5) }

    /// Whether the last request in the slot was a page, so that a send comes next.
    var isSendsTurn = false
    /// Whether changes have waited long enough, so that a send comes next and waits for no first page.
    var isOverdue = false
    /// The page request or look-up that a queued change is waiting for.
    private(set) var demanded: RequestID?

    /// Starts the timer after which a waiting change is sent and the page or look-up is abandoned.
    mutating func demand(_ request: RequestID, _ context: inout SyncContext) {
        demanded = request
        context.actions.append(.setTimer(.slot, at: context.now.monotonic + Self.patience))
    }

    /// Stops the timer of a change that waits.
    mutating func endDemand(_ context: inout SyncContext) {
        guard demanded != nil else { return }
        demanded = nil
        context.actions.append(.cancelTimer(.slot))
    }
}
