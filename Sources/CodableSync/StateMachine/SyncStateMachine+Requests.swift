import RecordCoding

/// Choosing the next request, and limiting how long changes wait for pages and look-ups.
extension SyncStateMachine {
    var isSlotFree: Bool {
        if account.lane.isBusy || zone.lane.isBusy || sending.lane.isBusy { return false }
        return fetching.lane.isBusy ? false : !lookingUp.lane.isBusy
    }

    /// Whether a request about records is in flight or its response is being stored; a held response does not
    /// count.
    var areRecordsRequested: Bool {
        if zone.holdsResponse { return false }
        if sending.lane.isBusy || fetching.lane.isBusy { return true }
        return lookingUp.lane.isBusy
    }

    /// Whether a call waits until everything is sent or fetched, or until the subscription is deleted;
    /// deliveries and edits don't wait for the cloud.
    package var isAwaited: Bool { !calls.waiters.isEmpty || subscription.isRemovalWanted }

    /// Starts the request whose turn it is, if the slot is free.
    mutating func advanceRequests() {
        if slot.isOverdue { advanceSending() }
        slot.isOverdue = false
        advanceLookingUp()
        calls.endFetchPhases(after: fetching.endedRuns)
        if slot.isSendsTurn { advanceSending() }
        advanceFetching()
        advanceSending()
    }

    private mutating func advanceLookingUp() {
        if lookingUp.queue.isEmpty { return }
        guard isReady, isSlotFree else { return }
        lookingUp.advance(&context)
        settle()
    }

    private mutating func advanceFetching() {
        let isAwaited = calls.waiters.contains { ($0.fetchRun ?? 0) > fetching.runs }
        guard isReady, isSlotFree else { return }
        fetching.advance(isAwaited: isAwaited, &context)
        settle()
    }

    /// Starts a send request if the slot is free.
    private mutating func advanceSending() {
        guard mayBeginSending else { return }
        guard isSlotFree else { return demandSlot() }
        if !slot.isOverdue, isFirstPageAwaited { return }
        let items = sending.plan(candidates)
        guard !items.isEmpty else { return }
        slot.isSendsTurn = false
        sendDelay.end()
        sending.begin(items, &context)
        settle()
    }

    private var mayBeginSending: Bool {
        guard isAutomatic || calls.waiters.contains(where: \.wantsSend) else { return false }
        guard isReady, sending.mayBegin(at: context.now) else { return false }
        let waitingCount = deferred.count + sendDelay.count(at: context.now)
        return context.state.sendQueue.count > waitingCount && !isFirstFetchAhead
    }

    /// The changes that could be sent now: those that do not wait, and whose records are not looked up.
    private var candidates: some Sequence<(item: SendItem, size: Int)> {
        let (waiting, lookUps) = (deferred.queue, lookingUp.queue)
        return context.state.candidates { waiting.contains($0) || lookUps.contains($0) }
    }

    // MARK: Waiting changes

    private mutating func demandSlot() {
        guard slot.demanded == nil, let request = readInFlight, candidates.contains(where: { _ in true })
        else { return }
        slot.demand(request, at: context.now)
    }

    /// The page request or look-up in flight, which changes nothing on the server.
    private var readInFlight: RequestID? { fetching.lane.request ?? lookingUp.lane.request }

    /// Notes that the request for which a change waited has ended.
    mutating func endMetDemand() {
        guard let demanded = slot.demanded, demanded != fetching.lane.request,
            demanded != lookingUp.lane.request
        else { return }
        slot.endDemand()
    }

    /// Sends a change that has waited long enough; the abandoned page or look-up is requested again
    /// afterwards.
    mutating func endPatience() {
        guard slot.demanded != nil else { return }
        slot.isOverdue = abandonReading()
        slot.endDemand()
    }

    /// Abandons the page request or look-up in flight and ignores its response.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    mutating func abandonReading() -> Bool {
        // A held response arrived in time.
        guard !zone.holdsResponse, let request = readInFlight else { return false }
        lookingUp.abandonRequest(&context)
        fetching.lane.abandon()
        endMetDemand()
        context.actions.append(.cancel(request))
        return true
    }

    /// Ignores the responses to all requests for records.
    mutating func abandonRequestsForRecords() {
        fetching.lane.abandon()
        sending.abandonRequest(&context)
        lookingUp.abandonRequest(&context)
    }

    // MARK: What comes first

    /// Whether changes wait for the first page of a fetch.
    ///
    /// Conflicts with that page are decided before anything is sent, which avoids refused saves. Later pages
    /// delay nothing.
    private var isFirstPageAwaited: Bool {
        if fetching.isListingAhead(context.state) { return true }
        return calls.waiters.contains { $0.wantsSend && isFirstPageAhead(of: $0) }
    }

    /// Whether the fetch that a caller waits for has yet to read its first page.
    ///
    /// A run that is past its first page does not delay changes, even if the caller waits for the next run.
    private func isFirstPageAhead(of waiter: Waiter) -> Bool {
        guard let run = waiter.fetchRun, waiter.failure == nil else { return false }
        return fetching.isRunning ? !fetching.isPastFirstPage : run > fetching.runs
    }

    /// Whether no record of the zone is known and its first page is still to come.
    ///
    /// Changes wait for that page, however long it takes, and are merged with its records.
    private var isFirstFetchAhead: Bool {
        context.state.knownCount(in: fetching.zone) > 0 ? false : fetching.isListingAhead(context.state)
    }
}
