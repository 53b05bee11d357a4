import RecordCoding

/// Tracks whether the engine runs, and the callers that wait until everything is sent and fetched.
struct Callers: Sendable {
    enum Stage: Equatable, Sendable {
        case unstarted, started, stopped
    }

    /// Which of `start` and `stop` the app called last.
    var stage = Stage.unstarted
    /// A configuration error that would fail every request.
    var fault: CloudError?
    private(set) var waiters: [Waiter] = []
    /// The position in the send queue up to which callers wait.
    private(set) var passEnd = 0

    var isStopped: Bool { stage == .stopped }

    mutating func stop(_ context: inout SyncContext) {
        stage = .stopped
        for waiter in waiters { context.answer(waiter.call, .failed(.stopped)) }
        waiters = []
    }

    // MARK: Waiting callers

    mutating func wait(_ waiter: Waiter, _ state: SyncState) {
        waiters.append(waiter)
        extendPass(state)
    }

    mutating func abandon(_ call: CallID) {
        waiters.removeAll { $0.call == call }
    }

    /// Makes waiting callers also wait for changes that their own work has queued.
    mutating func extendPass(_ state: SyncState) {
        if !waiters.isEmpty { passEnd = max(passEnd, state.sendQueue.endPosition) }
    }

    /// Fails the callers that wait for a part of the work, or all callers without a part.
    mutating func fail(_ error: SyncError, of part: SyncParts?) {
        for index in waiters.indices where waiters[index].failure == nil {
            guard part.map({ waiters[index].isWaiting(for: $0) }) ?? true else { continue }
            waiters[index].failure = error
        }
    }

    /// Ends the fetch phase of callers whose run is over; they may still wait for sends, even during the next
    /// fetch.
    mutating func endFetchPhases(after endedRuns: Int) {
        for index in waiters.indices {
            if let run = waiters[index].fetchRun, endedRuns >= run { waiters[index].fetchRun = nil }
        }
    }

    /// Ends the calls whose work is done.
    ///
    /// - Parameters:
    ///   - isQuiet: Whether no look-up or conflict is in progress, and none can start now.
    ///   - isSent: Whether every change that callers wait for has been tried at least once.
    ///   - context: The context that all rules share.
    ///   - failure: The error that ends a call, if any.
    mutating func finish(
        isQuiet: Bool,
        isSent: Bool,
        _ context: inout SyncContext,
        failure: (Waiter) -> SyncError?
    ) {
        var stillWaiting: [Waiter] = []
        for waiter in waiters {
            if let error = failure(waiter) {
                context.answer(waiter.call, .failed(error))
            } else if waiter.fetchRun == nil, isQuiet, !waiter.wantsSend || isSent {
                context.answer(waiter.call, .summary(context.summary(since: waiter.before)))
            } else {
                stillWaiting.append(waiter)
            }
        }
        waiters = stillWaiting
    }
}

extension SyncContext {
    fileprivate func summary(since before: SyncSummary) -> SyncSummary {
        let totals = counts.totals
        var summary = SyncSummary()
        summary.sent = totals.sent - before.sent
        summary.deleted = totals.deleted - before.deleted
        summary.fetched = totals.fetched - before.fetched
        summary.conflictsResolved = totals.conflictsResolved - before.conflictsResolved
        summary.parked = state.parkedQueue.count
        summary.pending = state.pendingCount - state.parkedQueue.count
        return summary
    }
}
