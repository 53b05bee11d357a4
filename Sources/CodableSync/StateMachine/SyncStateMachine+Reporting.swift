import RecordCoding

/// What the app is told about the engine itself: its status, the account, what happened.
extension SyncStateMachine {
    mutating func reportStatus() {
        // Whoever reads once this is told must not find what the sign-out removes.
        if case .unavailable(let status) = account, !setup.isStoring { report(status) }
        let status = currentStatus
        guard status != reported else { return }
        reported = status
        actions.append(.report(status))
    }

    private var currentStatus: SyncStatus {
        if isStopped { return .stopped }
        if !isStarted, waiters.isEmpty { return .stopped }
        if isPurgeStored, !isForAnotherUser { return .waitingForDecision(.purged) }
        if let fault { return .paused(.configuration(fault)) }
        switch account {
        case .unavailable where setup.isStoring: return .fetching
        case .unavailable(let status): return .paused(.account(status))
        case .other, .unknown, .confirmed: if let switchFailure { return .paused(.state(switchFailure)) }
        }
        // An answer that waits for the feed is no request under way.
        if !holdsAnswer || !isWaiting(setup) {
            if sending.request != nil { return .sending }
            if isFetchRunning { return .fetching }
        }
        if let serverWaitEnd { return .waiting(until: serverWaitEnd) }
        if isOverQuota { return .paused(.quotaExceeded) }
        for lane in [setup, fetching, sending, lookingUp, resolving] {
            guard let retryAt = lane.retryAt, retryAt > now.monotonic else { continue }
            if lane.failure?.code == .networkUnavailable { return .offline }
            return .waiting(until: wallDate(at: retryAt))
        }
        return upcoming ?? .idle
    }

    /// What is about to be done although no request for it is under way: between two requests nobody is idle.
    private var upcoming: SyncStatus? {
        guard mayWork else { return nil }
        if wantsFetch || setup.isBusy || isSwitching || account == .unknown { return .fetching }
        let mustReconcile = !state.conflictQueue.isEmpty || !lookUps.isEmpty
        if mustReconcile || sending.isStoring || state.sendQueue.count > deferred.count { return .sending }
        guard !deferred.isEmpty, let deferredUntil, deferredUntil > now.monotonic else { return nil }
        return .waiting(until: wallDate(at: deferredUntil))
    }

    mutating func report(_ status: AccountStatus) {
        guard status != reportedAccount else { return }
        reportedAccount = status
        actions.append(.reportAccount(status))
    }
}
