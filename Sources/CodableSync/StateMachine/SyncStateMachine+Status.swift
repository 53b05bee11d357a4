import RecordCoding

/// Reporting the engine's status and the account's status to the app.
extension SyncStateMachine {
    mutating func reportStatus() {
        reportUnavailability()
        let status = currentStatus
        guard status != reported else { return }
        reported = status
        context.actions.append(.report(.status(status)))
    }

    private var currentStatus: SyncStatus {
        if calls.isStopped { return .stopped }
        if calls.stage == .unstarted, calls.waiters.isEmpty { return .stopped }
        if isPurgeStored, !isForAnotherUser { return .waitingForDecision }
        if let fault = calls.fault { return .paused(.configuration(fault)) }
        switch account.stage {
        case .unavailable(let status): return .paused(.account(status))
        case .other, .unknown, .confirmed:
            if let failure = account.switchFailure { return .paused(.state(failure)) }
        }
        // While the account or the zone waits to be looked up again, a request whose response is held does
        // not count as in flight.
        if !zone.holdsResponse || !(context.isWaiting(.account) || context.isWaiting(.zone)) {
            if context.requests.contains(.sending) { return .sending }
            if fetching.isRunning { return .fetching }
        }
        if let end = context.serverWaitEnd { return .waiting(until: end) }
        if sending.isOverQuota { return .paused(.quotaExceeded) }
        let subjects: [Subject] = [.account, .zone, .fetching, .sending, .lookingUp, .resolving]
        for subject in subjects where context.isWaiting(subject) {
            let wait = context.waits[subject]
            if wait.failure?.code == .networkUnavailable { return .offline }
            if let until = wait.until { return .waiting(until: context.now.wallDate(at: until)) }
        }
        return upcoming ?? .idle
    }

    /// The status of work that is about to start, so that the engine is not reported as idle between two
    /// requests.
    private var upcoming: SyncStatus? {
        guard mayWork else { return nil }
        if fetching.isWanted || context.requests.contains(.account, .zone) { return .fetching }
        if account.isSwitching || account.stage == .unknown { return .fetching }
        let mustReconcile = !state.conflictQueue.isEmpty || !lookingUp.queue.isEmpty
        if mustReconcile || state.sendQueue.count > deferred.queue.count {
            return .sending
        }
        guard !deferred.queue.isEmpty, let until = deferred.until, until > context.now.monotonic else {
            return nil
        }
        return .waiting(until: context.now.wallDate(at: until))
    }

    /// Whether a call waits until everything is sent or fetched, or until the subscription is deleted;
    /// deliveries and edits don't wait for the cloud.
    package var isAwaited: Bool { !calls.waiters.isEmpty || subscription.isRemovalWanted }

    /// Whether the owner must decide about the records after a purge; this does not block another user.
    var isDecisionAwaited: Bool {
        guard isPurgeStored else { return false }
        switch account.stage {
        case .confirmed, .unavailable: return true
        case .unknown, .other: return false
        }
    }

    /// Whether the app must decide about purged records.
    var isPurgeStored: Bool { state.zone(zone.number).stage == .purged }
}
