import RecordCoding

/// Reporting the engine's status and the account's status to the app.
extension SyncStateMachine {
    mutating func reportStatus() {
        // A read after this report must not return records that the sign-out removes.
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
        // While the setup waits to retry, a request whose response is held does not count as in flight.
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

    /// The status of work that is about to start, so that the engine is not reported as idle between two
    /// requests.
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
