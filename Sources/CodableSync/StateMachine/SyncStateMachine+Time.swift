import RecordCoding

/// Handling the time and signals, and ending waits early for a caller or a signal.
extension SyncStateMachine {
    /// Does what was to happen by now.
    mutating func passTime() {
        let now = context.now
        wakeAt = nil
        // Before the deadlines: after a long sleep, a page is abandoned for a change, and its callers go on waiting.
        if now.hasReached(slot.demand?.end) { endPatience() }
        for request in context.requests.overdue(at: now) { missResponse(to: request) }
        if now.hasReached(context.serverWait.until) { context.serverWait = ServerWait() }
        let over = context.waits.endOver(at: now)
        if over.contains(.account) { account.forgetUnavailability() }
        if over.contains(.sending) { sending.isOverQuota = false }
        if now.hasReached(deferred.until) { deferred.end() }
        if now.hasReached(sendDelay.until) { sendDelay.end() }
        if now.hasReached(fetching.pollAt) {
            fetching.pollAt = nil
            wantFetch()
        }
        if now.hasReached(delivering.storeAgainAt) { delivering.takeStored() }
        if now.hasReached(context.flushAt) { context.flushRest() }
    }

    /// Asks the engine for the instant at which there is something to do without an input.
    mutating func askForTime() {
        let instant = nextInstant
        if instant == wakeAt { return }
        wakeAt = instant
        context.actions.append(.wake(at: instant))
    }

    /// The next instant at which there is something to do; ``passTime()`` and ``next`` do it.
    private var nextInstant: Duration? {
        var instants = context.requests.deadlines
        instants += [context.waits[.delivering].until, delivering.storeAgainAt, context.flushAt]
        instants.append(slot.demand?.end)
        // Nothing else happens while the app has stopped the engine.
        if !calls.isStopped {
            instants += Subject.allCases.map { context.waits[$0].until }
            instants += [context.serverWait.until, deferred.until, sendDelay.until, fetching.pollAt]
            instants.append(subscription.checkAt(context))
        }
        return instants.compactMap { $0 }.min()
    }

    mutating func receive(_ signal: CloudSignal) {
        switch signal {
        case .changes:
            renewAccountIfStale()
            wantFetch()
        case .accountChanged:
            doubtAccount()
        case .reachable:
            // A request in flight may be stuck on the lost connection.
            abandonReading()
            context.waits.end(.subscription)
            // A network does not free space.
            endWaits(for: sending.isOverQuota ? .fetch : [.fetch, .send])
            wantFetch()
        }
    }

    // MARK: Waits

    /// Ends the engine's own waits that would delay parts of a sync; a wait ordered by the server is not among them.
    mutating func endWaits(for parts: SyncParts) {
        if parts.contains(.fetch) { context.waits.end(.fetching) }
        if parts.contains(.send) {
            context.waits.end(.sending)
            sending.isOverQuota = false
            deferred.end()
        }
        context.waits.end(.account, .zone, .lookingUp, .resolving)
        account.forgetUnavailability()
    }
}
