import RecordCoding

/// What the app is told about the engine itself: its status, the account, what happened.
extension SyncStateMachine {
    mutating func reportStatus() {
        let status = currentStatus
        guard status != reported else { return }
        reported = status
        actions.append(.report(status))
    }

    private var currentStatus: SyncStatus {
        if isStopped || !(isStarted || !waiters.isEmpty) { return .stopped }
        if state.summary.zone == .purged { return .waitingForDecision }
        if let fault { return .paused(.configuration(fault)) }
        switch account {
        case .unavailable(let status): return .paused(.account(status))
        case .other, .unknown, .confirmed: if let switchFailure { return .paused(.state(switchFailure)) }
        }
        if sending.request != nil { return .sending }
        if isFetchRunning { return .fetching }
        if let serverWait, serverWait > now.monotonic { return .waiting(until: wallDate(at: serverWait)) }
        if isOverQuota { return .paused(.quotaExceeded) }
        for lane in [setup, fetching, sending] {
            guard let retryAt = lane.retryAt, retryAt > now.monotonic else { continue }
            if lane.failure?.code == .networkUnavailable { return .offline }
            return .waiting(until: wallDate(at: retryAt))
        }
        return .idle
    }

    mutating func report(_ status: AccountStatus) {
        guard status != reportedAccount else { return }
        reportedAccount = status
        actions.append(.reportAccount(status))
    }

}
