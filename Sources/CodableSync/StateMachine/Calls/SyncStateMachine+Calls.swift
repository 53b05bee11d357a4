import RecordCoding

/// The app's calls.
extension SyncStateMachine {
    mutating func take(_ input: CallInput) {
        switch input {
        case .start: start()
        case .stop: stop()
        case .deactivate(let call): deactivate(call)
        case .enqueue(let call, let changes, let part, _): enqueue(call, changes, partOf: part)
        case .sync(let call, let parts): sync(call, parts)
        case .retry(let call, let names): retry(call, names)
        case .discard(let call, let names): discard(call, names)
        case .resync(let call): resync(call)
        case .resolvePurge(let call, let again): resolvePurge(call, uploadAgain: again)
        case .decodeFailed(let versions): takeDecodeFailed(versions)
        case .abandoned(let call): calls.abandon(call)
        }
    }

    private mutating func start() {
        if calls.stage == .started { return }
        calls.stage = .started
        // The server may have lost it while the app was away.
        subscription.checkedAt = nil
        context.waits.end(.subscription)
        endWaits(for: [.fetch, .send])
        tryEverythingAgain()
        guard context.configuration.automaticallySyncs else { return }
        fetching.isWanted = true
        // Other devices' changes are fetched before queued changes are sent.
        slot.isSendsTurn = false
    }

    private mutating func stop() {
        calls.stop(&context)
        fetching.isWanted = false
        fetching.pollAt = nil
        sendDelay.end()
        slot.demand = nil
    }

    private mutating func deactivate(_ call: CallID) {
        stop()
        tryEverythingAgain()
        endWaits(for: [])
        subscription.checkedAt = nil
        subscription.removals.append(call)
    }

    // MARK: Changes

    private mutating func enqueue(_ call: CallID, _ changes: [NewChange], partOf models: InitialModels?) {
        var rest = changes
        if let models {
            guard let left = state.summary.rest(of: changes, upTo: models) else {
                return context.answer(call)
            }
            rest = left
            context.state.noteQueued(models)
        }
        // Queued changes wait for others, unless a caller waits until they are sent.
        let isDelayed = isAutomatic && !calls.waiters.contains(where: \.wantsSend)
        for change in rest {
            let key = context.state.key(change.name)
            // The user has changed an initial model since.
            if change.isInitial, state[key]?.pending != nil { continue }
            queue(change, of: key)
            // The new contents are another change, for which nobody waits who called before.
            if sending.inFlight.contains(key) { context.state.moveToEndOfSendQueue(key) }
            if isDelayed { sendDelay.wait(key, context) }
        }
        context.answer(call)
    }

    private mutating func queue(_ change: NewChange, of key: RecordKey) {
        if change.kind != .delete, let replaced = state[key]?.setAside {
            context.emit(.discarded(name: change.name, replaced, .replaced))
            context.note(.discarded, change.name, "A newer edit replaced a parked one.")
        }
        context.state.queue(change, of: key, isTelling: delivering.isTelling(key, state))
        parkIfTooNew(key)
        deferred.forgetFailures(of: key)
    }

    /// Parks a change to a record that a newer version of the app has written.
    private mutating func parkIfTooNew(_ key: RecordKey) {
        if let last = state[key]?.lastKnown, last.isTooNew { context.parkAsTooNew(key, last.schema) }
    }

    private mutating func retry(_ call: CallID, _ names: [String]) {
        let parked = names.map { state.key($0) }.filter { state[$0]?.pending?.parked != nil }
        for key in parked {
            deferred.forgetFailures(of: key)
            deferred.forgetConflicts(of: key)
            context.state.retry(key)
            parkIfTooNew(key)
        }
        context.answer(call)
    }

    private mutating func discard(_ call: CallID, _ names: [String]) {
        for key in names.map({ state.key($0) }) {
            guard !sending.inFlight.contains(key), let pending = state[key]?.pending else { continue }
            deferred.forgetConflicts(of: key)
            if let handle = pending.handle {
                context.emit(.discarded(name: key.recordName, handle, .discarded))
            }
            context.state.discard(key)
            context.note(.discarded, key.recordName, "The app discarded the change.")
        }
        context.answer(call)
    }

    private mutating func resolvePurge(_ call: CallID, uploadAgain: Bool) {
        guard state.isPurged else { return context.answer(call) }
        fetching.isWanted = true
        context.state.resolvePurge(uploadAgain: uploadAgain)
        context.answer(call)
    }

    // MARK: Reads

    /// Reports versions that a read could not decode.
    mutating func takeDecodeFailed(_ versions: [ReadVersion]) {
        for version in versions {
            let key = state.key(version.name)
            if delivering.takeDecodeFailed(version, of: key, sending.inFlight, &context) {
                lookUpDurably(key)
            }
        }
    }

    // MARK: Waiting for a sync

    private mutating func sync(_ call: CallID, _ parts: SyncParts) {
        renewAccountIfStale()
        // The caller may be another user than the one who must decide; signals request nothing in the
        // meantime.
        if isDecisionAwaited { renewAccount(after: AccountProgress.validity) }
        let isHint = parts.contains(.hint)
        if let error = whyNothingCanBeTried() ?? (isHint ? whyAHintIsInVain() : nil) {
            return context.answer(call, .failed(error))
        }
        if !isHint { tryEverythingAgain() }
        endWaits(for: parts)
        if parts.contains(.send) { sendDelay.end() }
        wait(call, for: parts)
    }

    mutating func wait(_ call: CallID, for parts: SyncParts) {
        var waiter = Waiter(call: call, parts: parts, before: context.counts.totals)
        if parts.contains(.fetch) {
            waiter.fetchRun = fetching.runs + 1
            fetching.isWanted = true
        }
        calls.wait(waiter, state)
    }

    /// Drops known failures, since a user who starts a sync may have fixed their cause.
    private mutating func tryEverythingAgain() {
        // Otherwise the caller would get the error of an earlier attempt.
        if !account.isSwitching { account.switchFailure = nil }
        calls.fault = nil
    }

    /// The error that a push cannot fix: a missing account or a configuration error.
    private func whyAHintIsInVain() -> SyncError? {
        if let fault = calls.fault { return .cloud(fault) }
        if case .unavailable(let status) = account.stage { return .cloud(status.error) }
        return nil
    }

    /// The error that a call gets at once, without any attempt.
    private func whyNothingCanBeTried() -> SyncError? {
        if calls.isStopped { return .stopped }
        if isDecisionAwaited { return .waitingForDecision }
        if let end = context.serverWaitEnd { return .waiting(until: end) }
        return nil
    }

    /// Ends the calls that have failed.
    mutating func failWaiters() {
        if !calls.waiters.isEmpty { endWaiters(isQuiet: false, isSent: false) }
    }

    /// Ends the calls whose work is done.
    mutating func finishWaiters() {
        if calls.waiters.isEmpty { return }
        let isQuiet = areLookUpsDone ? isResolvingDone : false
        let isSendAwaited = calls.waiters.contains { $0.wantsSend ? $0.fetchRun == nil : false }
        endWaiters(isQuiet: isQuiet, isSent: isQuiet && isSendAwaited ? isSendingDone : false)
    }

    /// Whether no look-up is due before the end of its wait.
    private var areLookUpsDone: Bool {
        lookingUp.queue.isEmpty ? true : context.isWaiting(.lookingUp)
    }

    private mutating func endWaiters(isQuiet: Bool, isSent: Bool) {
        let general = failureOfEveryCall
        let mayFail = isPurgeStored
        calls.finish(isQuiet: isQuiet, isSent: isSent, &context) { waiter in
            if mayFail, waiter.failure != nil { return .waitingForDecision }
            return general == .waitingForDecision ? general : waiter.failure ?? general
        }
    }

    /// The error that ends every call, even one that has not failed by itself.
    private var failureOfEveryCall: SyncError? {
        if isDecisionAwaited { return .waitingForDecision }
        if let fault = calls.fault { return .cloud(fault) }
        if let end = context.serverWaitEnd { return .waiting(until: end) }
        switch account.stage {
        case .unavailable(let status): return .cloud(status.error)
        case .other where account.isSwitching: return nil
        case .other, .unknown, .confirmed: return account.switchFailure
        }
    }

    /// Whether every change that callers wait for has been tried at least once; later ones may be in flight.
    private var isSendingDone: Bool {
        if sending.inFlight.firstPosition < calls.passEnd { return false }
        // A change whose record could not be looked up waits for the next attempt, as a deferred one does.
        let (waiting, lookUps) = (deferred.queue, lookingUp.queue)
        return state.sendQueue.keys(before: calls.passEnd).allSatisfy {
            waiting.contains($0) ? true : lookUps.contains($0)
        }
    }
}
