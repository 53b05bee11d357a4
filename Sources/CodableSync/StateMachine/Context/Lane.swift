/// A lane for one kind of work, with at most one request at a time: the request and its deadline, and the
/// lane's own wait after failures.
struct Lane: Equatable, Sendable {
    /// The request in flight.
    private(set) var request: RequestID?
    /// When the request counts as lost; `nil` without one, and once its response is here.
    private(set) var deadline: Duration?
    /// The end of the lane's own wait after failures; a call that needs the lane ends it early.
    private(set) var retryAt: Duration?
    /// The error of the lane's last failure.
    private(set) var failure: CloudError?
    private(set) var backoff = Backoff()

    var isBusy: Bool { request != nil }

    // MARK: The request

    /// Starts a request with its deadline.
    mutating func begin(_ request: CloudRequest, _ context: inout SyncContext) {
        begin(request, number: context.nextNumber(), &context)
    }

    /// Starts a request whose number was assigned before.
    mutating func begin(_ request: CloudRequest, number: RequestID, _ context: inout SyncContext) {
        self.request = number
        deadline = context.now.monotonic + context.configuration.requestDeadline
        context.actions.append(.request(number, request))
    }

    /// Ends the lane's request if this is its response; late responses are ignored.
    mutating func takes(_ response: RequestID) -> Bool {
        guard request == response else { return false }
        abandon()
        return true
    }

    /// Ignores the response to the lane's request.
    mutating func abandon() {
        request = nil
        deadline = nil
    }

    /// Gives the request all the time that it needs, since its response is here and is held.
    mutating func hold(_ response: RequestID) {
        if request == response { deadline = nil }
    }

    /// The request, if its response is overdue.
    func overdueRequest(at now: Moment) -> RequestID? {
        if let deadline, deadline <= now.monotonic { request } else { nil }
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
        wait(until: context.nextTry(after: &backoff))
    }

    mutating func wait(until instant: Duration) {
        retryAt = instant
    }

    mutating func endWait() {
        retryAt = nil
    }

    /// Ends the wait if it is over; returns whether it was.
    @discardableResult
    mutating func endWaitIfOver(at now: Moment) -> Bool {
        guard let retryAt, retryAt <= now.monotonic else { return false }
        self.retryAt = nil
        return true
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
