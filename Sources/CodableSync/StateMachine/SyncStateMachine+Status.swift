import RecordCoding

/// Reporting the engine's status and the account's status to the app.
extension SyncStateMachine {
    mutating func reportStatus() {
        account.reportUnavailability(&context)
        let status = currentStatus
        guard status != reported else { return }
        reported = status
        context.actions.append(.report(.status(status)))
    }

    private var currentStatus: SyncStatus {
        if calls.isStopped { return .stopped }
        if !calls.isStarted, calls.waiters.isEmpty { return .stopped }
        if isPurgeStored, !isForAnotherUser { return .waitingForDecision }
        if let fault = calls.fault { return .paused(.configuration(fault)) }
        switch account.stage {
        case .unavailable(let status): return .paused(.account(status))
        case .other, .unknown, .confirmed:
            if let failure = account.switchFailure { return .paused(.state(failure)) }
        }
        // While the account or the zone waits to be looked up again, a request whose response is held does
        // not count as in flight.
        if !zone.holdsResponse || !(isWaiting(account.lane) || isWaiting(zone.lane)) {
            if sending.lane.request != nil { return .sending }
            if fetching.isRunning { return .fetching }
        }
        if let end = context.serverWaitEnd { return .waiting(until: end) }
        if sending.isOverQuota { return .paused(.quotaExceeded) }
        let lanes = [account.lane, zone.lane, fetching.lane, sending.lane, lookingUp.lane, resolving.lane]
        for lane in lanes where isWaiting(lane) {
            if lane.failure?.code == .networkUnavailable { return .offline }
            if let retryAt = lane.retryAt { return .waiting(until: context.wallDate(at: retryAt)) }
        }
        return upcoming ?? .idle
    }

    private func isWaiting(_ lane: Lane) -> Bool { lane.isWaiting(at: context.now) }

    /// The status of work that is about to start, so that the engine is not reported as idle between two
    /// requests.
    private var upcoming: SyncStatus? {
        guard mayWork else { return nil }
        if fetching.isWanted || account.lane.isBusy || zone.lane.isBusy { return .fetching }
        if account.isSwitching || account.stage == .unknown { return .fetching }
        let mustReconcile = !state.conflictQueue.isEmpty || !lookingUp.queue.isEmpty
        if mustReconcile || state.sendQueue.count > deferred.count {
            return .sending
        }
        guard !deferred.isEmpty, let until = deferred.until, until > context.now.monotonic else { return nil }
        return .waiting(until: context.wallDate(at: until))
    }
}
