/// Requests about zones and records share one slot: one at a time, its answer stored before the next one leaves, so
/// that no two answers cross.
///
/// Look-ups come first, then a page and a send in turn. A lane that waits occupies nothing. The look-up of the account and
/// the subscription are no part of it.
extension SyncStateMachine {
    var isSlotFree: Bool {
        if setup.isBusy || sending.isBusy { return false }
        return !fetching.isBusy && !lookingUp.isBusy
    }

    /// Whether an answer about records is on its way; one that is held waits for the setup itself.
    var isSlotTakenByRecords: Bool { !holdsAnswer && !isSlotFree }

    /// Starts the request whose turn it is, if the slot is free.
    mutating func advanceRequests() {
        advanceLookingUp()
        endFetchPhases()
        if isSendsTurn { advanceSending() }
        advanceFetching()
        advanceSending()
    }

    // MARK: A change that waits

    /// So long a change waits for a page or a look-up before that is given up.
    static var patience: Duration { .seconds(5) }

    /// A change waits for what only reads, and can be asked for again.
    mutating func demandSlot() {
        guard demandedSlot == nil, let request = fetching.request ?? lookingUp.request, hasSomethingToSend
        else { return }
        demandedSlot = request
        actions.append(.setTimer(.slot, at: now.monotonic + Self.patience))
    }

    /// The request has ended, one way or another: nobody waits for it any more.
    mutating func endDemand(for request: RequestID) {
        guard demandedSlot == request else { return }
        demandedSlot = nil
        actions.append(.cancelTimer(.slot))
    }

    /// A change has waited long enough: it goes now, and what it waited for is asked for once more behind it.
    mutating func takeSlot() {
        guard demandedSlot != nil, abandonReading() else { return }
        advanceSending(isOverdue: true)
    }

    /// Gives the page or the look-up under way up; neither changes anything on the server, and its answer is not
    /// listened to.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    mutating func abandonReading() -> Bool {
        // One that is held was answered in time.
        guard !holdsAnswer, let request = fetching.request ?? lookingUp.request else { return false }
        if lookingUp.request != nil { beingLookedUp = [] }
        abandonRequest(in: \.fetching)
        abandonRequest(in: \.lookingUp)
        actions.append(.cancel(request))
        return true
    }

    // MARK: What comes first

    /// Whether a change waits for the first page of a fetch.
    ///
    /// What that page shows is decided before anything is sent, which spares refused saves. The pages behind it hold
    /// nothing up.
    var isFirstPageAwaited: Bool {
        isListingAhead || waiters.contains { $0.wantsSend && isFirstPageAhead(of: $0) }
    }

    /// Whether the fetch that a caller waits for has still to read its first page; a run that is past its own first
    /// page holds nothing up, although the caller waits for the run behind it.
    private func isFirstPageAhead(of waiter: Waiter) -> Bool {
        guard let run = waiter.fetchRun, waiter.failure == nil else { return false }
        return isFetchRunning ? !isPastFirstPage : run > fetchRuns
    }

    /// Whether nothing is known of the zone yet, and its first page is to come: edits made before it are merged with
    /// what is there, however long it takes.
    var isFirstFetchAhead: Bool { isListingAhead && state.knownCount == 0 }

    /// Whether a full listing is to begin, or has no page yet.
    private var isListingAhead: Bool {
        guard state.summary.zoneToken == nil, fetching.failure == nil else { return false }
        return wantsFetch || isFetchRunning
    }
}
