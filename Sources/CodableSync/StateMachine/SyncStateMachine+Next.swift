import RecordCoding

import struct Foundation.Date

/// What the engine does next: when it looks up, fetches, sends, and does nothing.
///
/// One request about the zone and its records is in flight at a time, and its response is processed before the
/// next one, so no two responses cross. Beside it are the subscription, a look-up of the account that may have
/// changed, the resolver and the streams.
extension SyncStateMachine {
    /// Starts all work that is possible now.
    ///
    /// Everything is decided from the state alone, so no input can be missed. What begins may change the state, and so
    /// let something else begin.
    mutating func advance() {
        // Nothing begins for a caller that has failed.
        failWaiters()
        var changeCount: Int? = -1
        while state.image?.changeCount != changeCount {
            changeCount = state.image?.changeCount
            advanceUnsubscribing()
            advanceSubscribing()
            advanceResolving()
            calls.endFetchPhases(after: fetching.endedRuns)
            while let step = next { begin(step) }
            slot.isOverdue = false
            demandSlot()
            delivering.advance(&context)
            settle()
        }
        flushIfIdle()
        finishWaiters()
        reportStatus()
    }

    /// What begins a request, or decides what became of the zone.
    enum Step: Equatable {
        case checkAccount
        /// Looks up the account because of a doubt about the zone: another user's database lacks it too.
        case checkOwner
        case endZone(DatabaseChanges.Deletion.Reason)
        case saveZone, replaceZone
        case readFeed
        case lookUp
        case fetch
        case send([SendItem])
    }

    /// What comes next; `nil` if nothing may begin now.
    var next: Step? {
        guard mayWork, !context.isInServerWait else { return nil }
        if account.mustLookUp { return canCheckAccount ? .checkAccount : nil }
        guard account.isConfirmed, !context.requests.contains(.account, .zone) else { return nil }
        if let step = nextAboutZone { return step }
        // A held response counts as a request in flight.
        guard isReady, !context.requests.contains(.sending, .fetching, .lookingUp) else { return nil }
        if slot.isOverdue, let step = nextSend { return step }
        if !lookingUp.queue.isEmpty, !context.isWaiting(.lookingUp) { return .lookUp }
        if slot.isSendsTurn, let step = nextSend { return step }
        if isFetchDue, !context.isWaiting(.fetching) { return .fetch }
        return nextSend
    }

    private mutating func begin(_ step: Step) {
        switch step {
        case .checkAccount: checkAccount()
        case .checkOwner:
            zone.isOwnerChecked = true
            account.stage = .unknown
            checkAccount()
        case .endZone(let reason): loseZone(reason)
        case .saveZone: context.begin(.saveZone(mark: nil))
        case .replaceZone:
            // A different number each time, even after a restart with the same seed.
            let mark = context.nextRandom() ^ context.now.wall.timeIntervalSinceReferenceDate.bitPattern
            context.begin(.saveZone(mark: mark))
        case .readFeed:
            zone.isOwnerChecked = zone.doubt != nil
            let token = zone.isFeedPositionLost ? nil : state.summary.databaseToken
            context.begin(.readDatabaseChanges(since: token))
        case .lookUp: beginLookUp()
        case .fetch: beginPage()
        case .send(let items): beginSending(items)
        }
        settle()
    }

    // MARK: Whether anything may begin

    // These properties are read at every step, so none of them uses `&&` or `||`: in a debug build, the
    // right-hand side is a closure with a copy of the whole machine.

    /// Whether the engine may make requests: for a waiting caller, or because it syncs automatically.
    var mayWork: Bool {
        guard !calls.isStopped, calls.fault == nil else { return false }
        return calls.waiters.isEmpty ? isAutomatic : true
    }

    /// Whether the engine is started and syncs by itself.
    var isAutomatic: Bool { calls.stage == .started ? context.configuration.automaticallySyncs : false }

    /// Whether records may be requested now.
    var isReady: Bool {
        guard mayWork, account.isConfirmed, zone.isReady(state) else { return false }
        return !context.isInServerWait
    }

    // MARK: The account

    private var canCheckAccount: Bool {
        // A response about the zone may itself show that the account is unusable, so it comes first.
        if context.requests.contains(.account, .zone) { return false }
        return !context.isWaiting(.account)
    }

    /// Looks up the account, if it may be looked up now.
    mutating func checkAccount() {
        if context.requests.contains(.account) { return }
        if context.isWaiting(.account) { return }
        context.begin(.checkAccount)
    }

    // MARK: The zone

    /// Creates the zone, or finds out what became of it.
    private var nextAboutZone: Step? {
        if context.isWaiting(.zone) { return nil }
        // While a response is held, nothing else is in flight.
        if !zone.holdsResponse, context.requests.contains(.sending, .fetching, .lookingUp) { return nil }
        switch state.zone(zone.number).stage {
        case .purged: return nil
        case .unknown: return .saveZone
        case .unreadable: return .replaceZone
        case .ready: break
        }
        guard let doubt = zone.doubt else { return zone.isFeedPositionMissing(state) ? .readFeed : nil }
        let isStale = account.isStale(after: AccountProgress.validityInDoubt, at: context.now)
        if isStale, !zone.isOwnerChecked { return context.isWaiting(.account) ? nil : .checkOwner }
        return switch doubt.recovery {
        case .askUser: .endZone(.purged)
        case .uploadEverything: .endZone(.encryptedDataReset)
        default: .readFeed
        }
    }

    // MARK: Fetching

    private var isFetchDue: Bool {
        if fetching.isWanted { return true }
        if fetching.isRunning { return true }
        return calls.waiters.contains { ($0.fetchRun ?? 0) > fetching.runs }
    }

    /// Whether a full listing is due, or has no page yet.
    private var isListingAhead: Bool {
        guard state.zone(zone.number).token == nil, context.waits[.fetching].failure == nil else {
            return false
        }
        return fetching.isWanted ? true : fetching.isRunning
    }

    // MARK: Sending

    private var nextSend: Step? {
        guard isSendDue else { return nil }
        if !slot.isOverdue, isFirstPageAwaited { return nil }
        let items = sending.planner.plan(candidates)
        return items.isEmpty ? nil : .send(items)
    }

    /// Whether there is something to send, and nothing else than a request in flight delays it.
    private var isSendDue: Bool {
        guard isAutomatic || calls.waiters.contains(where: \.wantsSend) else { return false }
        guard isReady, !sending.isOverQuota, !context.isWaiting(.sending) else { return false }
        let waitingCount = deferred.queue.count + sendDelay.count(at: context.now)
        guard state.sendQueue.count > waitingCount else { return false }
        // While no record of the zone is known, changes wait for its first page, however long it takes, and are
        // merged with its records.
        return state.knownCount(in: zone.number) > 0 ? true : !isListingAhead
    }

    /// The changes that could be sent now: those that do not wait, and whose records are not looked up.
    private var candidates: some Sequence<(item: SendItem, size: Int)> {
        let (waiting, lookUps) = (deferred.queue, lookingUp.queue)
        return state.candidates { waiting.contains($0) || lookUps.contains($0) }
    }

    /// Whether changes wait for the first page of a fetch.
    ///
    /// Conflicts with that page are decided before anything is sent, which avoids refused saves. Later pages
    /// delay nothing.
    private var isFirstPageAwaited: Bool {
        if isListingAhead { return true }
        return calls.waiters.contains { $0.wantsSend && isFirstPageAhead(of: $0) }
    }

    /// Whether the fetch that a caller waits for has yet to read its first page.
    ///
    /// A run that is past its first page does not delay changes, even if the caller waits for the next run.
    private func isFirstPageAhead(of waiter: Waiter) -> Bool {
        guard let run = waiter.fetchRun, waiter.failure == nil else { return false }
        return fetching.isRunning ? !fetching.isPastFirstPage : run > fetching.runs
    }

    // MARK: A change that waits for a page or a look-up

    /// Limits how long a change waits for the page or look-up in flight.
    private mutating func demandSlot() {
        guard slot.demand == nil, let request = readInFlight, isSendDue,
            candidates.contains(where: { _ in true })
        else { return }
        slot.demand = (request, context.now.monotonic + Slot.patience)
    }

    /// The page request or look-up in flight, which changes nothing on the server.
    private var readInFlight: RequestID? {
        (context.requests[.fetching] ?? context.requests[.lookingUp])?.id
    }

    /// Notes that the request for which a change waited has ended.
    mutating func endMetDemand() {
        if let demand = slot.demand, demand.request != readInFlight { slot.demand = nil }
    }

    /// Sends a change that has waited long enough; the page or look-up is requested again afterwards.
    mutating func endPatience() {
        guard slot.demand != nil else { return }
        slot.isOverdue = abandonReading()
        slot.demand = nil
    }

    /// Cancels the page request or look-up in flight.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    mutating func abandonReading() -> Bool {
        // A held response arrived in time.
        guard !zone.holdsResponse, let request = readInFlight else { return false }
        context.requests.end(.fetching, .lookingUp)
        endMetDemand()
        context.actions.append(.cancel(request))
        return true
    }

    /// Flushes what was stored without a flush once no other work is in progress.
    private mutating func flushIfIdle() {
        guard resolving.isEmpty, context.requests.isEmpty, delivering.isIdle else { return }
        context.flushRest()
    }
}
