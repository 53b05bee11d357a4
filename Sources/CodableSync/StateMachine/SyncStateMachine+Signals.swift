import RecordCoding

/// Timers and signals, and the waits that a caller or a signal ends early.
extension SyncStateMachine {
    mutating func takeTimer(_ timer: SyncTimer) {
        switch timer {
        case .accountRetry: account.takeTimer()
        case .zoneRetry: zone.takeTimer()
        case .subscriptionRetry: subscription.takeTimer()
        case .fetchRetry: fetching.takeTimer()
        case .lookUpRetry: lookingUp.takeTimer()
        case .sendRetry: sending.takeTimer()
        case .itemRetry: deferred.takeTimer()
        case .resolveRetry: resolving.takeTimer()
        case .deliverRetry: delivering.takeTimer()
        case .serverWait: takeEndOfServerWait()
        case .poll: context.tell(.fetchWanted)
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

    /// Treats a request without a timely response as one whose response was lost.
    private mutating func takeDeadline(_ request: RequestID) {
        let error = CloudError(.serverResponseLost, message: "The request was not answered in time.")
        if sending.lane.request == request { return process(.sent(request, .failure(error))) }
        if fetching.lane.request == request { return process(.fetched(request, .failure(error))) }
        if lookingUp.lane.request == request { return process(.lookedUp(request, .failure(error))) }
        if subscription.lane.request == request { return subscription.take(request, error, &context) }
        // All failures of the zone's requests are handled alike.
        zone.takeSaved(request, error, isOwnerConfirmed: account.isConfirmed, &context)
        account.take(request, .failure(error), &context)
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

    mutating func doubtAccount() {
        // The configuration error may have been due to the account.
        calls.forgetFault()
        zone.endWait(&context)
        account.doubt(&context)
    }

    /// Applies to the next request; a request in flight keeps the former limits.
    mutating func takeLimits(_ limits: DatabaseLimits) {
        context.configuration.maximumItems = limits.maximumItems
        context.configuration.maximumBytes = limits.maximumBytes
        sending.take(limits)
    }

    // MARK: Waits

    /// Ends the engine's own waits; a wait ordered by the server is not among them.
    mutating func endWaits(exceptSending: Bool = false) {
        subscription.endWait(&context)
        fetching.endWait(&context)
        if !exceptSending { sending.endWait(&context) }
        endCommonWaits()
    }

    /// Ends the waits that would delay what a caller requests; sync works without a subscription.
    mutating func endWaits(for parts: SyncParts) {
        if parts.contains(.fetch) { fetching.endWait(&context) }
        if parts.contains(.send) { sending.endWait(&context) }
        endCommonWaits()
    }

    private mutating func endCommonWaits() {
        account.endWait(&context)
        zone.endWait(&context)
        lookingUp.endWait(&context)
        resolving.endWait(&context)
    }

    /// Makes deferred changes sendable again.
    mutating func sendEverythingAgain() {
        sending.forgetQuota()
        deferred.end(&context)
    }
}
