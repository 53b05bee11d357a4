import RecordCoding

/// The zone's change feed is read page by page; each page is stored before the next one is requested.
extension SyncStateMachine {
    /// Wants a fetch, if the engine syncs by itself.
    mutating func wantFetch() {
        if isAutomatic { fetching.isWanted = true }
    }

    // MARK: Requesting pages

    /// Requests a page; the first one begins a run.
    mutating func beginPage() {
        if !fetching.isRunning { beginRun() }
        if state.zone(zone.number).token == nil, state.knownCount(in: zone.number) > 0 {
            // A full listing begins: known records that it does not contain were deleted.
            // Each time, as a version may have become known since it was last stored that one begins.
            context.began(.fetching)
            context.state.beginListing(of: zone.number)
        }
        slot.isSendsTurn = true
        context.begin(.fetch(since: state.zone(zone.number).token))
    }

    private mutating func beginRun() {
        fetching.isRunning = true
        fetching.isPastFirstPage = false
        fetching.isWanted = false
        fetching.runs += 1
        fetching.paging = PagingWatch(at: state.zone(zone.number).token)
        fetching.pollAt = nil
        context.counts.run = FetchTotals()
        context.emit(.fetchBegan)
    }

    /// Starts a full listing because the app asked for one.
    mutating func resync(_ call: CallID) {
        fetching.isWanted = true
        // A page requested from the old position would be taken for the whole listing.
        context.requests.end(.fetching)
        // The feed is read from its beginning, so tokens that were seen before are expected again.
        fetching.paging = PagingWatch()
        context.state.beginListing(of: zone.number)
        context.answer(call)
    }

    // MARK: Responses

    mutating func receive(_ page: FetchedPage) {
        // It must delay the look-ups that the page leads to.
        context.applyRetryAfter(page.retryAfter)
        let isEmpty = page.records.isEmpty && page.deletions.isEmpty && page.failed.isEmpty
        // Everything up to the previous page is kept, and the next attempt continues from there.
        if page.moreComing,
            let finding = fetching.paging.pass(page.token, isEmpty: isEmpty && page.ignored == 0)
        {
            return failFetch(finding.error)
        }
        receiveChanges(of: page)
        fetching.isPastFirstPage = true
        if !page.moreComing { endRun() }
    }

    private mutating func endRun() {
        fetching.isRunning = false
        fetching.expiries = 0
        context.waits[.fetching].succeed()
        let run = context.counts.run
        if run.ignored > 0 { context.emit(.ignoredRecords(count: run.ignored)) }
        context.emit(.fetchEnded(changed: run.changed, deleted: run.deleted))
        // If changes are waiting, zone and account count as found only once one is accepted.
        if state.sendQueue.isEmpty, lookingUp.queue.isEmpty { proveZone() }
        if calls.waiters.contains(where: { $0.fetchRun != nil }) { calls.extendPass(state) }
        guard isAutomatic, let interval = context.configuration.pollInterval else { return }
        fetching.pollAt = context.now.monotonic + interval
    }

    mutating func failPage(_ error: CloudError) {
        switch error.recovery {
        case .refetch:
            // The run starts over; known records stay until the listing is complete.
            fetching.paging = PagingWatch()
            context.emit(.listingBegan)
            context.state.beginListing(of: zone.number)
            // The response may come from another user's cloud.
            renewAccount(after: AccountProgress.validityInDoubt)
            fetching.expiries += 1
            // The token expired repeatedly, so the next attempt waits.
            if fetching.expiries > 2 { failFetch(error) }
        case .continueFetching:
            if fetching.paging.truncate() { failFetch(error) }
        default: failFetch(error)
        }
    }

    private mutating func failFetch(_ error: CloudError) {
        fetching.isRunning = false
        context.waits[.fetching].failure = error
        context.emit(.failed(error))
        switch error.recovery {
        case .recreateZone, .askUser, .uploadEverything:
            // Once the zone has been examined, the run is repeated for the same callers.
            fetching.runs -= 1
            context.waits[.fetching].failure = nil
            fetching.isWanted = true
            examineZone(after: error)
        default: if retryLater(.fetching, after: error, failing: .fetch) { wantFetch() }
        }
    }
}
