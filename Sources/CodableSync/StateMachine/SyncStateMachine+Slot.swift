/// Requests about zones and records share one slot: one is in flight at a time, and its response is stored
/// before the next one is sent. So no two responses cross.
///
/// Look-ups come first; pages and sends take turns. A waiting lane does not occupy the slot. The account
/// look-up and the subscription do not need it.
extension SyncStateMachine {
    var isSlotFree: Bool {
        if setup.isBusy || sending.isBusy { return false }
        return !fetching.isBusy && !lookingUp.isBusy
    }

    /// Whether a request about records is in flight or its response is being stored; a held response does not
    /// count.
    var isSlotTakenByRecords: Bool { !holdsAnswer && !isSlotFree }

    /// Starts the request whose turn it is, if the slot is free.
    mutating func advanceRequests() {
        advanceLookingUp()
        endFetchPhases()
        if isSendsTurn { advanceSending() }
        advanceFetching()
        advanceSending()
    }

    // MARK: Waiting changes

    /// How long a change waits for a page or a look-up before that request is abandoned.
    static var patience: Duration { .seconds(5) }

    /// Starts the timer after which a waiting change is sent and the page or look-up is abandoned.
    mutating func demandSlot() {
        guard demandedSlot == nil, let request = fetching.request ?? lookingUp.request, hasSomethingToSend
        else { return }
        demandedSlot = request
        actions.append(.setTimer(.slot, at: now.monotonic + Self.patience))
    }

    /// Stops the timer of a change that waits for this request, which has ended.
    mutating func endDemand(for request: RequestID) {
        guard demandedSlot == request else { return }
        demandedSlot = nil
        actions.append(.cancelTimer(.slot))
    }

    /// Sends a change that has waited long enough; the abandoned page or look-up is requested again
    /// afterwards.
    mutating func takeSlot() {
        guard demandedSlot != nil, abandonReading() else { return }
        advanceSending(isOverdue: true)
    }

    /// Abandons the page request or look-up in flight and ignores its response; neither changes anything on
    /// the server.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    mutating func abandonReading() -> Bool {
        // A held response arrived in time.
        guard !holdsAnswer, let request = fetching.request ?? lookingUp.request else { return false }
        if lookingUp.request != nil { beingLookedUp = [] }
        abandonRequest(in: \.fetching)
        abandonRequest(in: \.lookingUp)
        actions.append(.cancel(request))
        return true
    }

    // MARK: What comes first

    /// Whether changes wait for the first page of a fetch.
    ///
    /// Conflicts with that page are decided before anything is sent, which avoids refused saves. Later pages
    /// delay nothing.
    var isFirstPageAwaited: Bool {
        isListingAhead || waiters.contains { $0.wantsSend && isFirstPageAhead(of: $0) }
    }

    /// Whether the fetch that a caller waits for has yet to read its first page.
    ///
    /// A run that is past its first page does not delay changes, even if the caller waits for the next run.
    private func isFirstPageAhead(of waiter: Waiter) -> Bool {
        guard let run = waiter.fetchRun, waiter.failure == nil else { return false }
        return isFetchRunning ? !isPastFirstPage : run > fetchRuns
    }

    /// Whether no record of the zone is known and its first page is still to come.
    ///
    /// Changes wait for that page, however long it takes, and are merged with its records.
    var isFirstFetchAhead: Bool { isListingAhead && state.knownCount == 0 }

    /// Whether a full listing is due, or has no page yet.
    private var isListingAhead: Bool {
        guard state.summary.zoneToken == nil, fetching.failure == nil else { return false }
        return wantsFetch || isFetchRunning
    }
}
