import RecordCoding

/// Handling timers and signals, and ending waits early for a caller or a signal.
extension SyncStateMachine {
    mutating func takeTimer(_ timer: SyncTimer) {
        switch timer {
        case .accountRetry: account.takeTimer()
        case .zoneRetry: zone.lane.timerFired()
        case .subscriptionRetry: subscription.lane.timerFired()
        // The fetch is still wanted since the failure; wanting it here could cause a second one.
        case .fetchRetry: fetching.lane.timerFired()
        case .lookUpRetry: lookingUp.lane.timerFired()
        case .sendRetry: sending.takeTimer()
        case .itemRetry: deferred.takeTimer()
        case .sendDelay: sendDelay.takeTimer()
        case .resolveRetry: resolving.lane.timerFired()
        case .deliverRetry:
            delivering.lane.timerFired()
            delivering.takeStored()
        case .serverWait: takeEndOfServerWait()
        case .poll: context.tell(.fetchWanted)
        // The machine notices by itself that the day is over.
        case .subscriptionCheck: break
        case .slot: takeSlotTimer()
        case .flush: context.flushRest()
        case .deadline(let request): takeDeadline(request)
        }
    }

    private mutating func takeEndOfServerWait() {
        // The server may have ordered a longer wait in the meantime.
        if context.isInServerWait { return context.setServerWaitTimer() }
        context.serverWait.end()
        deferred.endIfDue(at: context.now)
    }

    mutating func takeSignal(_ signal: CloudSignal) {
        switch signal {
        case .changes:
            account.renewIfStale(context)
            context.tell(.fetchWanted)
        case .accountChanged:
            doubtAccount()
        case .reachable:
            // A request in flight may be stuck on the lost connection.
            abandonReading()
            let isOverQuota = sending.isOverQuota
            endWaits(exceptSending: isOverQuota)
            if !isOverQuota { sendEverythingAgain() }
            context.tell(.fetchWanted)
        }
    }

    // MARK: Waits

    /// Ends the engine's own waits; a wait ordered by the server is not among them.
    mutating func endWaits(exceptSending: Bool = false) {
        subscription.lane.endWait(&context)
        fetching.lane.endWait(&context)
        if !exceptSending { sending.lane.endWait(&context) }
        endCommonWaits()
    }

    /// Ends the waits that would delay what a caller requests; sync works without a subscription.
    mutating func endWaits(for parts: SyncParts) {
        if parts.contains(.fetch) { fetching.lane.endWait(&context) }
        if parts.contains(.send) { sending.lane.endWait(&context) }
        endCommonWaits()
    }

    private mutating func endCommonWaits() {
        account.endWait(&context)
        zone.lane.endWait(&context)
        lookingUp.lane.endWait(&context)
        resolving.lane.endWait(&context)
    }

    /// Makes deferred changes sendable again.
    mutating func sendEverythingAgain() {
        sending.forgetQuota()
        deferred.end(&context)
    }
}
