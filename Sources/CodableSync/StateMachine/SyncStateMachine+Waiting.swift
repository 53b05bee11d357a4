/// Callers that wait until everything is sent and fetched.
extension SyncStateMachine {
    /// Makes waiting callers also wait for changes that their own work has queued.
    mutating func extendPass() {
        if !waiters.isEmpty { passEnd = max(passEnd, state.sendQueue.endPosition) }
    }

    /// Ends the fetch phase of callers whose run is over; they may still wait for sends, even during the next
    /// fetch.
    mutating func endFetchPhases() {
        let ended = isFetchRunning ? fetchRuns - 1 : fetchRuns
        for index in waiters.indices {
            if let run = waiters[index].fetchRun, ended >= run { waiters[index].fetchRun = nil }
        }
    }

    /// Ends the calls whose work is done.
    mutating func finishWaiters() {
        guard !waiters.isEmpty else { return }
        let isQuiet = isReconcilingDone
        let isSent = isSendingDone
        var stillWaiting: [Waiter] = []
        for waiter in waiters {
            if let error = outcomeThatEnds(waiter) {
                actions.append(.answer(waiter.call, .failed(error)))
                continue
            }
            if waiter.fetchRun == nil, isQuiet, !waiter.wantsSend || isSent {
                actions.append(.answer(waiter.call, .summary(summary(since: waiter.before))))
            } else {
                stillWaiting.append(waiter)
            }
        }
        waiters = stillWaiting
    }

    private func outcomeThatEnds(_ waiter: Waiter) -> SyncError? {
        if isDecisionAwaited || (isPurgeStored && waiter.failure != nil) {
            return .waitingForDecision(.purged)
        }
        if let failure = waiter.failure { return failure }
        if let fault { return .cloud(fault) }
        if let serverWaitEnd { return .waiting(until: serverWaitEnd) }
        switch account {
        // Wait until the sign-out is stored, so that the caller then reads what it leaves.
        case .unavailable where setup.isStoring: return nil
        case .unavailable(let status): return .cloud(Self.error(for: status))
        case .other where isSwitching: return nil
        case .other, .unknown, .confirmed: return switchFailure
        }
    }

    /// Whether everything that callers wait for has been tried at least once.
    private var isSendingDone: Bool {
        guard !sending.isBusy, !lookingUp.isBusy, lookUps.isEmpty || isWaiting(lookingUp) else {
            return false
        }
        return state.sendQueue.count <= deferred.count || state.sendQueue.firstPosition >= passEnd
    }

    /// Whether no look-up or conflict is in progress, and none can start now.
    private var isReconcilingDone: Bool {
        guard reconciling.isEmpty, lookUps.isEmpty || isWaiting(lookingUp) else { return false }
        return state.conflictQueue.isEmpty || isWaiting(resolving)
    }

    private func summary(since before: SyncSummary) -> SyncSummary {
        var summary = SyncSummary()
        summary.sent = totals.sent - before.sent
        summary.deleted = totals.deleted - before.deleted
        summary.fetched = totals.fetched - before.fetched
        summary.conflictsResolved = totals.conflictsResolved - before.conflictsResolved
        summary.parked = totals.parked - before.parked
        summary.pending = state.pendingCount - state.parkedQueue.count
        return summary
    }
}
