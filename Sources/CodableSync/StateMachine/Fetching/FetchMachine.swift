import RecordCoding

/// Reads the zone's change feed page by page, and stores each page before it requests the next one.
struct FetchMachine: Sendable {
    /// The zone that is read.
    let zone: ZoneNumber
    var lane = Lane()
    /// Whether there may be changes to fetch.
    private(set) var isWanted = false
    /// When there may be changes again, without a signal.
    private(set) var pollAt: Duration?
    /// The number of the current or last fetch run.
    private(set) var runs = 0
    private(set) var isRunning = false
    /// Whether the current fetch run has read a page.
    private(set) var isPastFirstPage = false
    private var paging = PagingWatch()
    /// How often the change token expired since a fetch last reached the end.
    private var expiries = 0

    init(_ zone: ZoneNumber) {
        self.zone = zone
    }

    /// The number of fetch runs that have ended.
    var endedRuns: Int { isRunning ? runs - 1 : runs }

    /// Whether a full listing is due, or has no page yet.
    func isListingAhead(_ state: SyncState) -> Bool {
        guard state.zone(zone).token == nil, lane.failure == nil else { return false }
        return isWanted || isRunning
    }

    mutating func want() {
        isWanted = true
    }

    mutating func wantNothing() {
        isWanted = false
        pollAt = nil
    }

    /// Wants a fetch at an instant, even without a signal.
    mutating func poll(at instant: Duration) {
        pollAt = instant
    }

    mutating func poll() {
        pollAt = nil
        isWanted = true
    }

    // MARK: Requesting pages

    /// Starts or continues a fetch run, if one is wanted or awaited by a caller.
    mutating func advance(isAwaited: Bool, _ context: inout SyncContext) {
        guard isWanted || isRunning || isAwaited, !lane.isWaiting(at: context.now) else { return }
        if !isRunning { beginRun(&context) }
        if context.state.zone(zone).token == nil, context.state.knownCount(in: zone) > 0 {
            // A full listing begins: known records that it does not contain were deleted.
            // Each time, as a version may have become known since it was last stored that one begins.
            context.append([.fetching(.listingBegan(zone))], by: .fetching)
        }
        requestPage(&context)
    }

    private mutating func requestPage(_ context: inout SyncContext) {
        context.tell(.pageRequested)
        lane.begin(.fetch(since: context.state.zone(zone).token), &context)
    }

    private mutating func beginRun(_ context: inout SyncContext) {
        isRunning = true
        isPastFirstPage = false
        isWanted = false
        runs += 1
        paging = PagingWatch(at: context.state.zone(zone).token)
        context.counts.run = FetchTotals()
        pollAt = nil
        context.emit(.fetchBegan)
    }

    /// Starts a full listing because the app asked for one.
    mutating func resync(_ call: CallID, _ context: inout SyncContext) {
        isWanted = true
        // A page requested from the old position would be taken for the whole listing.
        lane.abandon()
        // The feed is read from its beginning, so tokens that were seen before are expected again.
        paging = PagingWatch()
        context.answer(call, afterStoring: [.fetching(.listingBegan(zone))])
    }

    // MARK: Responses

    mutating func take(
        _ request: RequestID,
        _ result: Result<FetchedPage, CloudError>,
        _ context: inout SyncContext
    ) {
        guard lane.takes(request) else { return }
        switch result {
        case .success(let page): take(page, &context)
        case .failure(let error): takeError(error, &context)
        }
    }

    private mutating func take(_ page: FetchedPage, _ context: inout SyncContext) {
        // It must delay the look-ups that the page leads to.
        context.applyRetryAfter(page.retryAfter)
        let isEmpty = page.records.isEmpty && page.deletions.isEmpty && page.failed.isEmpty
        // Everything up to the previous page is kept, and the next attempt continues from there.
        if page.moreComing, let finding = paging.pass(page.token, isEmpty: isEmpty && page.ignored == 0) {
            return fail(finding.error, &context)
        }
        let entries = page.entries(of: zone, &context)
        if !entries.isEmpty { context.append(entries) }
        endPage(moreComing: page.moreComing, &context)
    }

    /// Ends a page; the last one ends the run.
    private mutating func endPage(moreComing: Bool, _ context: inout SyncContext) {
        isPastFirstPage = true
        guard !moreComing else { return }
        isRunning = false
        lane.succeed()
        expiries = 0
        let run = context.counts.run
        if run.ignored > 0 { context.emit(.ignoredRecords(count: run.ignored)) }
        context.emit(.fetchEnded(changed: run.changed, deleted: run.deleted))
        context.tell(.fetchEnded)
    }

    private mutating func takeError(_ error: CloudError, _ context: inout SyncContext) {
        context.applyRetryAfter(of: error)
        switch error.recovery {
        case .refetch:
            // The run starts over; known records stay until the listing is complete.
            paging = PagingWatch()
            context.emit(.listingBegan)
            context.append([.fetching(.listingBegan(zone))])
            context.tell(.ownerDoubted)
            expiries += 1
            // The token expired repeatedly, so the next attempt waits.
            if expiries > 2 { fail(error, &context) }
        case .continueFetching:
            if paging.truncate() { fail(error, &context) }
        default:
            fail(error, &context)
        }
    }

    private mutating func fail(_ error: CloudError, _ context: inout SyncContext) {
        isRunning = false
        lane.note(failure: error)
        context.emit(.failed(error))
        switch error.recovery {
        case .recreateZone, .askUser, .uploadEverything:
            // Once the zone has been examined, the run is repeated for the same callers.
            runs -= 1
            lane.note(failure: nil)
            isWanted = true
            context.tell(.zoneMissing(error))
        default:
            context.failCallers(error, of: .fetch)
            if context.affectsEngine(error) { return }
            context.tell(.fetchWanted)
            lane.backOff(after: error, &context)
        }
    }

    /// Fetches again later, because a page or the start of a listing could not be stored.
    mutating func takeRefused(_ context: inout SyncContext) {
        lane.takeRefused(&context)
        isRunning = false
        context.tell(.fetchWanted)
    }
}
