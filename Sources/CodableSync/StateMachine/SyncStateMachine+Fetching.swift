import RecordCoding

/// Reading the zone's change feed page by page; each page is stored before the next one is requested.
extension SyncStateMachine {
    mutating func advanceFetching() {
        guard wantsFetch || isFetchRunning || waiters.contains(where: { ($0.fetchRun ?? 0) > fetchRuns })
        else {
            return
        }
        guard isReady, isSlotFree, !isWaiting(fetching), !isResyncBeingStored else { return }
        if !isFetchRunning { beginFetchRun() }
        if state.summary.zoneToken == nil, state.knownCount > 0 {
            // A full listing begins: known records that it does not contain were deleted.
            fetching.isStoring = true
            append([.listingBegan], then: .fetchAnew)
        } else {
            requestPage()
        }
    }

    /// Requests the first page once the start of a listing is stored, before any other version can become
    /// known.
    mutating func beginListing() {
        fetching.isStoring = false
        guard isReady, isSlotFree, isFetchRunning, !isWaiting(fetching), !isResyncBeingStored else { return }
        requestPage()
    }

    private mutating func requestPage() {
        isSendsTurn = true
        let token = state.summary.zoneToken
        request(\.fetching) { .fetch($0, since: token) }
    }

    private var isResyncBeingStored: Bool {
        uncommitted.contains { if case .resync = $0.then { true } else { false } }
    }

    private mutating func beginFetchRun() {
        isFetchRunning = true
        isPastFirstPage = false
        wantsFetch = false
        fetchRuns += 1
        paging = PagingWatch(at: state.summary.zoneToken)
        runTotals = FetchTotals()
        actions.append(.cancelTimer(.poll))
        emit(.fetchBegan)
    }

    mutating func takeFetched(_ request: RequestID, _ result: Result<FetchedPage, CloudError>) {
        guard isAnswer(request, in: \.fetching) else { return }
        switch result {
        case .success(let page): take(page)
        case .failure(let error): failFetchRequest(error)
        }
    }

    private mutating func take(_ page: FetchedPage) {
        let isEmpty = page.records.isEmpty && page.deletions.isEmpty && page.failed.isEmpty
        // Everything up to the previous page is kept, and the next attempt continues from there.
        if page.moreComing, let finding = paging.pass(page.token, isEmpty: isEmpty && page.ignored == 0) {
            return failFetch(finding.error)
        }
        let entries = facts(of: page)
        if entries.isEmpty {
            endPage(moreComing: page.moreComing)
        } else {
            fetching.isStoring = true
            append(entries, flush: false, then: .page(moreComing: page.moreComing))
        }
    }

    /// The entries for a page's changes and its change token.
    private mutating func facts(of page: FetchedPage) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        var unchanged: [String] = []
        // Records that could not be read or may be outdated; they are looked up.
        var doubtful = page.failed
        for record in page.records {
            let known = state[record.name]?.known
            if known?.isSameVersion(as: record.version) == true {
                unchanged.append(record.name)
            } else if known?.isNewer(than: record.version) == true {
                // Either the feed lags behind, or the date is unreliable.
                doubtful.append(record.name)
            } else {
                entries += take(record)
            }
        }
        for name in page.deletions {
            let isNew = state[name] == nil && page.records.contains { $0.name == name }
            entries += isNew ? [.fetchedDeletion(name: name)] : takeDeletion(name)
        }
        for name in doubtful { lookUps.append(name) }
        if !doubtful.isEmpty { entries.append(.unread(doubtful)) }
        runTotals.ignored += page.ignored
        if state.summary.isListing {
            // Records to be looked up are in the zone, too.
            let met = unchanged + doubtful
            if !met.isEmpty { entries.append(.listed(met)) }
            if !page.moreComing { entries += deletionsOfAbsent(lastPage: page) }
        }
        return entries + endOfPage(page, hasChanges: !entries.isEmpty)
    }

    /// The entries for a version that is new to this device.
    private mutating func take(_ record: FetchedRecord) -> [JournalEntry] {
        // It may be this device's own save whose response was lost; the reconciler finds out.
        if state[record.name]?.sent.isEmpty != false { countForeign() }
        noteRemoteEdit(of: record)
        return [.fetched(name: record.name, record.version)]
    }

    private func endOfPage(_ page: FetchedPage, hasChanges: Bool) -> [JournalEntry] {
        // A fetch without changes writes nothing.
        let isEnd = !page.moreComing && state.summary.isListing
        if !hasChanges, page.token == state.summary.zoneToken, !isEnd { return [] }
        var entries: [JournalEntry] = [.page(token: page.token, isComplete: !page.moreComing)]
        if !page.moreComing { entries.append(.fetchCompleted(now.wall)) }
        return entries
    }

    /// Counts a record that another device has changed.
    mutating func countForeign() {
        runTotals.changed += 1
        totals.fetched += 1
    }

    /// Counts a deletion by another device, if the record was known and this device did not delete it.
    mutating func countForeignDeletion(_ name: String) {
        guard let record = state[name], record.known != nil, !record.isOwnDeletion else { return }
        runTotals.deleted += 1
        totals.fetched += 1
    }

    private mutating func takeDeletion(_ name: String) -> [JournalEntry] {
        guard state[name] != nil else { return [] }
        countForeignDeletion(name)
        return [.fetchedDeletion(name: name)]
    }

    /// Deletions of the known records that a complete listing does not contain.
    private mutating func deletionsOfAbsent(lastPage page: FetchedPage) -> [JournalEntry] {
        let absent = state.absentFromListing(except: page.records.map(\.name) + page.failed)
        return absent.flatMap { takeDeletion($0) }
    }

    /// Reports an edit by another device that a pending deletion discards.
    private mutating func noteRemoteEdit(of record: FetchedRecord) {
        guard let pending = state[record.name]?.pending, pending.isDeletion, pending.parked == nil else {
            return
        }
        eventsOfBatch.append(.discarded(name: record.name, record.version.handle, .deletion))
    }

    mutating func endPage(moreComing: Bool) {
        fetching.isStoring = false
        isPastFirstPage = true
        guard !moreComing else { return }
        isFetchRunning = false
        fetching.backoff.reset()
        fetching.failure = nil
        expiries = 0
        // If changes are waiting, the zone counts as found only once it accepts one.
        if state.sendQueue.isEmpty, lookUps.isEmpty { zoneLosses = 0 }
        if runTotals.ignored > 0 { emit(.ignoredRecords(count: runTotals.ignored)) }
        emit(.fetchEnded(changed: runTotals.changed, deleted: runTotals.deleted))
        extendPass()
        if isAutomatic, let interval = configuration.pollInterval {
            actions.append(.setTimer(.poll, at: now.monotonic + interval))
        }
    }

    private mutating func failFetchRequest(_ error: CloudError) {
        heed(error)
        switch error.recovery {
        case .refetch:
            // The run starts over; known records stay until the listing is complete.
            paging = PagingWatch()
            fetching.isStoring = true
            emit(.listingBegan)
            append([.listingBegan], then: .fetchAnew)
            renewAccount()
            expiries += 1
            // The token expired repeatedly, so the next attempt waits.
            if expiries > 2 { failFetch(error) }
        case .continueFetching:
            if paging.truncate() { failFetch(error) }
        default:
            failFetch(error)
        }
    }

    mutating func failFetch(_ error: CloudError) {
        isFetchRunning = false
        fetching.failure = error
        emit(.failed(error))
        switch error.recovery {
        case .recreateZone, .askUser, .uploadEverything:
            // Once the zone has been examined, the run is repeated for the same callers.
            fetchRuns -= 1
            fetching.failure = nil
            wantsFetch = true
            examineZone(after: error)
        default:
            failWaiters(error, of: .fetch)
            if meetsWholeEngine(error) { return }
            wantsFetch = wantsFetch || isAutomatic
            backOff(\.fetching, .fetchRetry, after: error)
        }
    }
}
