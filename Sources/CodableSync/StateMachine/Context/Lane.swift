/// A lane for one kind of work, with at most one request at a time: the request and its deadline, and the
/// lane's own wait after failures.
struct Lane: Equatable, Sendable {
    /// The timer that ends the lane's own wait.
    let timer: SyncTimer
    /// The request in flight.
    private(set) var request: RequestID?
    /// The end of the lane's own wait after failures; a call that needs the lane ends it early.
    private(set) var retryAt: Duration?
    /// The error of the lane's last failure.
    private(set) var failure: CloudError?
    private(set) var backoff = Backoff()

    init(retry timer: SyncTimer) {
        self.timer = timer
    }

    var isBusy: Bool { request != nil }

    // MARK: The request

    /// Starts a request with its deadline.
    mutating func begin(_ request: CloudRequest, _ context: inout SyncContext) {
        begin(request, number: context.nextNumber(), &context)
    }

    /// Starts a request whose number was assigned before.
    mutating func begin(_ request: CloudRequest, number: RequestID, _ context: inout SyncContext) {
        self.request = number
        let deadline = context.now.monotonic + context.configuration.requestDeadline
        context.actions += [.setTimer(.deadline(number), at: deadline), .request(number, request)]
    }

    /// Ends the lane's request if this is its response; late responses are ignored.
    mutating func takes(_ response: RequestID, _ context: inout SyncContext) -> Bool {
        guard request == response else { return false }
        abandon(&context)
        return true
    }

    /// Ignores the response to the lane's request.
    mutating func abandon(_ context: inout SyncContext) {
        guard let request else { return }
        self.request = nil
        context.actions.append(.cancelTimer(.deadline(request)))
    }

    /// Waits because something could not be stored.
    mutating func takeRefused(_ context: inout SyncContext) {
        backOff(after: .ofDisk, &context)
    }

    // MARK: The lane's own wait

    func isWaiting(at now: Moment) -> Bool {
        if let retryAt { retryAt > now.monotonic } else { false }
    }

    /// Waits before the next attempt: longer after every failure, and at least as long as the server orders.
    mutating func backOff(after error: CloudError?, _ context: inout SyncContext) {
        if let error {
            failure = error
            context.applyRetryAfter(of: error)
        }
        wait(until: context.nextTry(after: &backoff), &context)
    }

    mutating func wait(until instant: Duration, _ context: inout SyncContext) {
        retryAt = instant
        context.actions.append(.setTimer(timer, at: instant))
    }

    mutating func endWait(_ context: inout SyncContext) {
        guard retryAt != nil else { return }
        retryAt = nil
        context.actions.append(.cancelTimer(timer))
    }

    mutating func timerFired() {
        retryAt = nil
    }

    /// Notes a failure after which the lane need not wait; `nil` takes it back.
    mutating func note(failure: CloudError?) {
        self.failure = failure
    }

    /// Resets the wait after the next failure to the shortest.
    mutating func resetBackoff() {
        backoff.reset()
    }

    /// Notes a success: the next failure is the first one.
    mutating func succeed() {
        backoff.reset()
        failure = nil
    }
}
