import RecordCoding

/// Handling the time and signals, and ending waits early for a caller or a signal.
extension SyncStateMachine {
    /// Does what was to happen by now.
    mutating func passTime() {
        let now = context.now
        wakeAt = nil
        for request in lanes.compactMap({ $0.overdueRequest(at: now) }) { takeDeadline(request) }
        context.serverWait.endIfOver(at: now)
        account.endWaitIfOver(at: now)
        zone.lane.endWaitIfOver(at: now)
        subscription.lane.endWaitIfOver(at: now)
        fetching.lane.endWaitIfOver(at: now)
        lookingUp.lane.endWaitIfOver(at: now)
        sending.endWaitIfOver(at: now)
        resolving.lane.endWaitIfOver(at: now)
        deferred.endIfOver(at: now)
        sendDelay.endIfOver(at: now)
        if isOver(slot.patienceEnd) { endPatience() }
        if isOver(fetching.pollAt) { fetching.poll() }
        delivering.lane.endWaitIfOver(at: now)
        if isOver(delivering.storeAgainAt) { delivering.takeStored() }
        if isOver(context.flushAt) { context.flushRest() }
    }

    private func isOver(_ instant: Duration?) -> Bool {
        if let instant { instant <= context.now.monotonic } else { false }
    }

    /// Asks the engine for the instant at which there is something to do without an input.
    mutating func askForTime() {
        let instant = nextInstant
        if instant == wakeAt { return }
        wakeAt = instant
        context.actions.append(.wake(at: instant))
    }

    /// The next instant at which there is something to do; ``passTime()`` does all of it.
    private var nextInstant: Duration? {
        var instants = lanes.map(\.deadline)
        instants += [delivering.lane.retryAt, delivering.storeAgainAt, context.flushAt, slot.patienceEnd]
        // Nothing else happens while the app has stopped the engine.
        if !calls.isStopped {
            instants += lanes.map(\.retryAt)
            instants += [context.serverWait.until, deferred.until, sendDelay.until, fetching.pollAt]
            instants.append(subscription.checkAt(context))
        }
        return instants.compactMap { $0 }.min()
    }

    /// The lanes of requests and resolvers.
    private var lanes: [Lane] {
        [
            account.lane, zone.lane, subscription.lane, fetching.lane, lookingUp.lane, sending.lane,
            resolving.lane,
        ]
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
        subscription.lane.endWait()
        fetching.lane.endWait()
        if !exceptSending { sending.lane.endWait() }
        endCommonWaits()
    }

    /// Ends the waits that would delay what a caller requests; sync works without a subscription.
    mutating func endWaits(for parts: SyncParts) {
        if parts.contains(.fetch) { fetching.lane.endWait() }
        if parts.contains(.send) { sending.lane.endWait() }
        endCommonWaits()
    }

    private mutating func endCommonWaits() {
        account.endWait()
        zone.lane.endWait()
        lookingUp.lane.endWait()
        resolving.lane.endWait()
    }

    /// Makes deferred changes sendable again.
    mutating func sendEverythingAgain() {
        sending.forgetQuota()
        deferred.end()
    }
}
