import RecordCoding

/// Reading the zone's change feed, page by page, each page stored before the next one is asked for.
extension SyncStateMachine {
    mutating func advanceFetching() {
        guard wantsFetch || isFetchRunning || waiters.contains(where: { ($0.fetchRun ?? 0) > fetchRuns })
        else {
            return
        }
        guard isReady, !fetching.isBusy, !isWaiting(fetching), !isResyncBeingStored else { return }
        if !isFetchRunning { beginFetchRun() }
        let token = state.summary.zoneToken
        if token == nil, state.knownCount > 0, !state.summary.isListing {
            // Saved before anything was fetched: only a full listing tells which of it was deleted since.
            fetching.isStoring = true
            return append([.listingBegan], then: .fetchAnew)
        }
        savedDuringFetch = RecordTable()
        removedDuringFetch = RecordTable()
        request(\.fetching) { .fetch($0, since: token) }
    }

    private var isResyncBeingStored: Bool {
        uncommitted.contains { if case .resync = $0.then { true } else { false } }
    }

    private mutating func beginFetchRun() {
        isFetchRunning = true
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
        // Whether the deletion came before the save or after it, the same page tells when it is asked for now.
        if page.deletions.contains(where: { savedDuringFetch[$0] != nil }) { return }
        // The same where the dates do not tell which of two versions is the newer one.
        if page.records.contains(where: isOrderUnknown) { return }
        let isEmpty = page.records.isEmpty && page.deletions.isEmpty && page.failed.isEmpty
        // Everything up to the page before is kept, and the next try goes on from there.
        if page.moreComing, let finding = paging.pass(page.token, isEmpty: isEmpty && page.ignored == 0) {
            return failFetch(finding.error)
        }
        let entries = facts(of: page)
        if entries.isEmpty {
            endPage(moreComing: page.moreComing)
        } else {
            fetching.isStoring = true
            append(entries, then: .page(moreComing: page.moreComing))
        }
    }

    /// What a page says, and that it is read.
    private mutating func facts(of page: FetchedPage) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        var unchanged: [String] = []
        // What could not be read, or may be old: the record itself tells.
        var doubtful = page.failed
        for record in page.records {
            let known = state[record.name]?.known
            if known?.isSameVersion(as: record.version) == true {
                unchanged.append(record.name)
            } else if known?.isNewer(than: record.version) == true {
                // A feed that lags, or a date that means nothing.
                doubtful.append(record.name)
            } else {
                entries += take(record)
            }
        }
        for name in page.deletions {
            let isNew = state[name] == nil && page.records.contains { $0.name == name }
            entries += isNew ? [.fetchedDeletion(name: name)] : takeDeletion(name)
        }
        doubtful += toldBesideFirstPage(page)
        for name in doubtful { lookUp(name) }
        if !doubtful.isEmpty { entries.append(.unread(doubtful)) }
        runTotals.ignored += page.ignored
        if state.summary.isListing {
            // What is looked up is there nevertheless.
            let met = unchanged + doubtful
            if !met.isEmpty { entries.append(.listed(met)) }
            if !page.moreComing { entries += deletionsOfAbsent(lastPage: page) }
        }
        return entries + endOfPage(page, hasChanges: !entries.isEmpty)
    }

    /// What another answer has told of since the listing began, and the first page does not show: deleted before
    /// that page was made, for all that anybody knows, and no later one would tell.
    ///
    /// Complexity: O(n log n), once for each full listing.
    private func toldBesideFirstPage(_ page: FetchedPage) -> [String] {
        guard state.summary.zoneToken == nil else { return [] }
        var names = savedDuringFetch.sortedNames
        for name in state.knownCount > 0 ? state.sortedNames : [] {
            guard let record = state[name], record.known != nil else { continue }
            if record.listing == state.summary.listing { names.append(name) }
        }
        for batch in uncommitted {
            for entry in batch.entries {
                switch entry {
                case .saved(let name, _, _), .fetched(let name, _): names.append(name)
                default: break
                }
            }
        }
        var met = RecordTable<Bool>()
        for name in page.records.map(\.name) + page.failed + page.deletions { met[name] = true }
        return names.filter { name in
            defer { met[name] = true }
            return met[name] == nil
        }
    }

    /// A version that is news for this device.
    private mutating func take(_ record: FetchedRecord) -> [JournalEntry] {
        noteDuringSend(record.name, record.version)
        noteDuringLookUp(record.name, record.version)
        // It may be our own write, whose answer was lost: the reconciler tells.
        if state[record.name]?.sent.isEmpty != false { countForeign() }
        noteRemoteEdit(of: record)
        return readBefore(record.name) + [.fetched(name: record.name, record.version)]
    }

    /// Whether the page was asked for before a save or a deletion was confirmed, and might tell of a version that
    /// is older than that.
    private func isOrderUnknown(_ record: FetchedRecord) -> Bool {
        if removedDuringFetch[record.name] != nil { return true }
        guard let saved = savedDuringFetch[record.name] else { return false }
        return saved.isOrderUnknown(beside: record.version)
    }

    /// Another answer tells of a record: the page that is under way may be older than that.
    mutating func noteDuringFetch(_ name: String, _ version: KnownVersion) {
        if fetching.request != nil { savedDuringFetch[name] = version }
    }

    private func endOfPage(_ page: FetchedPage, hasChanges: Bool) -> [JournalEntry] {
        // A poll that brings nothing writes nothing.
        let isEnd = !page.moreComing && state.summary.isListing
        if !hasChanges, page.token == state.summary.zoneToken, !isEnd { return [] }
        var entries: [JournalEntry] = [.page(token: page.token, isComplete: !page.moreComing)]
        if !page.moreComing { entries.append(.fetchCompleted(now.wall)) }
        return entries
    }

    /// One record more that was changed elsewhere.
    mutating func countForeign() {
        runTotals.changed += 1
        totals.fetched += 1
    }

    /// Counts a record deleted elsewhere, if it was known and this device did not delete it.
    mutating func countForeignDeletion(_ name: String) {
        guard let record = state[name], record.known != nil, !record.isOwnDeletion else { return }
        runTotals.deleted += 1
        totals.fetched += 1
    }

    private mutating func takeDeletion(_ name: String) -> [JournalEntry] {
        guard state[name] != nil else { return [] }
        if inFlightNames[name] != nil { deletedInFlight.append(name) }
        fetchedDuringSend[name] = nil
        if isToBeDeletedAfterSave(name) { return [.unread([name])] }
        countForeignDeletion(name)
        return readBefore(name) + [.fetchedDeletion(name: name)]
    }

    /// Whether the app has deleted what a request under way may still create: only its own deletion ends that.
    mutating func isToBeDeletedAfterSave(_ name: String) -> Bool {
        guard inFlightNames[name]?.handle != nil else { return false }
        return stateToCome(of: [name])[name]?.pending?.isDeletion == true
    }

    /// What a full listing does not show was deleted meanwhile; known only now that it is complete.
    private mutating func deletionsOfAbsent(lastPage page: FetchedPage) -> [JournalEntry] {
        let absent = state.absentFromListing(except: page.records.map(\.name) + page.failed)
        return absent.flatMap { takeDeletion($0) }
    }

    /// A pending deletion wins over an edit elsewhere, and says so.
    private mutating func noteRemoteEdit(of record: FetchedRecord) {
        guard let pending = state[record.name]?.pending, pending.isDeletion, pending.parked == nil else {
            return
        }
        actions.append(.emitLoading(.discarded(name: record.name, record.version.handle, .deletion)))
    }

    mutating func endPage(moreComing: Bool) {
        fetching.isStoring = false
        guard !moreComing else { return }
        isFetchRunning = false
        fetching.backoff.reset()
        fetching.failure = nil
        expiries = 0
        // A zone that takes no change is not found yet.
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
            // The run goes on from the beginning; what is known stays until the listing is complete.
            paging = PagingWatch()
            fetching.isStoring = true
            emit(.listingBegan)
            append([.listingBegan], then: .fetchAnew)
            renewAccount()
            expiries += 1
            // Lost, and lost again: not without a pause.
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
            // Once the zone's fate is known, the run begins once more, for the same callers.
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
