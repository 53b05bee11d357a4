import RecordCoding

import struct Foundation.Date

/// Manages the engine's zone: creates it, finds out why it was lost, and decides what happens to its records.
///
/// Another device may have recreated the zone after a loss that this device hasn't noticed. Everything in the
/// state comes from one zone: the one that existed at the stored position in the database's feed. A full
/// listing, a look-up or a refused save may come from its successor. The machine holds such a response while
/// it reads the feed from the stored position. If the feed reports no loss, the response is from the known
/// zone, and the position advances. Otherwise the machine drops the response and repeats the request once the
/// loss is stored. The held request keeps the slot, so there is at most one.
struct ZoneMachine: Sendable {
    /// If the zone is missing more often in a row than this, the lane waits before it tries again.
    static var maximumLosses: Int { 3 }

    /// The zone.
    let number: ZoneNumber
    var lane = Lane()
    /// The error that put the zone in doubt; requests for records pause until the zone has been examined.
    private(set) var doubt: CloudError?
    /// Whether the account was checked again because of the doubt: another user's database lacks the zone too.
    private var isOwnerChecked = false
    /// A response held until the database's feed rules out that it comes from another zone.
    private var held: RecordResponse?
    /// Whether the database turned out to have no feed since the engine was opened.
    private var hasNoFeed = false
    /// Whether the position in the feed is lost, so that the feed is read from its beginning.
    private var isFeedPositionLost = false
    /// How often reading the database's feed failed with an unknown error.
    private(set) var unknownFeedErrors = 0
    /// How often in a row the zone was missing.
    private var losses = 0

    init(_ number: ZoneNumber) {
        self.number = number
    }

    /// Whether a response is held and its contents are still needed.
    var holdsResponse: Bool { held != nil }

    /// Whether the zone exists, and the position in the feed is known, if there is a feed.
    func isReady(_ state: SyncState) -> Bool {
        guard state.zone(number).stage == .ready, doubt == nil else { return false }
        return !isFeedPositionMissing(state)
    }

    /// Whether the feed's position must be read before any record becomes known; a database without a feed
    /// has none.
    private func isFeedPositionMissing(_ state: SyncState) -> Bool {
        !hasNoFeed && state.summary.databaseToken == nil
    }

    /// Whether the user has purged the zone and the app must decide what happens to the records.
    func isPurged(_ state: SyncState) -> Bool {
        state.zone(number).stage == .purged
    }

    mutating func take(_ input: ZoneInput, isOwnerConfirmed: Bool, _ context: inout SyncContext) {
        switch input {
        case .saved(let request, let error):
            takeSaved(request, error, isOwnerConfirmed: isOwnerConfirmed, &context)
        case .databaseChanged(let request, let result):
            takeChanges(request, result, isOwnerConfirmed: isOwnerConfirmed, &context)
        }
    }

    // MARK: Creating and examining the zone

    /// Starts the look-up of the owner that comes before a doubt is resolved, once for each doubt.
    ///
    /// - Returns: Whether the owner must be looked up now.
    mutating func beginOwnerCheck(_ context: SyncContext) -> Bool {
        guard !lane.isBusy, !lane.isWaiting(at: context.now), context.state.zone(number).stage == .ready,
            doubt != nil, !isOwnerChecked
        else { return false }
        isOwnerChecked = true
        return true
    }

    /// Creates or checks the zone if it is time to; its owner is confirmed.
    mutating func advance(_ context: inout SyncContext) {
        guard !lane.isBusy, !lane.isWaiting(at: context.now) else { return }
        switch context.state.zone(number).stage {
        case .purged: break
        case .unknown: lane.begin(.saveZone(mark: nil), &context)
        case .unreadable:
            // A different number each time, even after a restart with the same seed.
            let mark = context.nextRandom() ^ context.now.wall.timeIntervalSinceReferenceDate.bitPattern
            lane.begin(.saveZone(mark: mark), &context)
        case .ready:
            if let doubt {
                resolve(doubt, &context)
            } else if isFeedPositionMissing(context.state) {
                lane.begin(.readDatabaseChanges(since: nil), &context)
            }
        }
    }

    private mutating func takeSaved(
        _ request: RequestID,
        _ error: CloudError?,
        isOwnerConfirmed: Bool,
        _ context: inout SyncContext
    ) {
        guard lane.takes(request) else { return }
        if let error { return fail(error, isOwnerConfirmed: isOwnerConfirmed, &context) }
        context.tell(.fetchWanted)
        // The feed so far is about earlier zones; it includes this device's own deletion of the last one.
        let position: [ZoneEntry] = context.state.summary.databaseToken == nil ? [] : [.databaseToken(nil)]
        store(position + [.ready(number)], &context)
        context.emit(.zoneReady)
    }

    private mutating func store(_ entries: [ZoneEntry], _ context: inout SyncContext) {
        context.append(entries.map { .zones($0) })
        if losses <= Self.maximumLosses { lane.resetBackoff() }
    }

    mutating func fail(_ error: CloudError, isOwnerConfirmed: Bool, _ context: inout SyncContext) {
        context.applyRetryAfter(of: error)
        switch error.recovery {
        case .waitForAccount, .stop: context.tell(.unusable(error))
        // Callers get the error for a purge once it is stored; after a reset, they keep waiting.
        case .askUser where isOwnerConfirmed: return lose(.purged, after: error, &context)
        case .uploadEverything where isOwnerConfirmed && context.state.zone(number).stage != .unreadable:
            return lose(.encryptedDataReset, after: error, &context)
        default: lane.backOff(after: error, &context)
        }
        context.failCallers(error)
        context.emit(.failed(error))
    }

    // MARK: Doubt

    /// Notes that a request did not find the zone, so that the reason is looked up.
    mutating func examine(after error: CloudError, _ context: inout SyncContext) {
        guard doubt == nil else { return }
        doubt = error
        countLoss(after: error, &context)
    }

    private mutating func countLoss(after error: CloudError, _ context: inout SyncContext) {
        losses += 1
        guard losses > Self.maximumLosses else { return }
        // The zone keeps disappearing after it was created, so the next attempt waits.
        context.failCallers(error)
        lane.backOff(after: error, &context)
    }

    /// Notes that the zone exists: it has accepted a change, or a fetch was complete and there is none to send.
    mutating func prove() {
        losses = 0
        lane.succeed()
    }

    private mutating func resolve(_ error: CloudError, _ context: inout SyncContext) {
        switch error.recovery {
        case .askUser: lose(.purged, &context)
        case .uploadEverything: lose(.encryptedDataReset, &context)
        default:
            let token = isFeedPositionLost ? nil : context.state.summary.databaseToken
            lane.begin(.readDatabaseChanges(since: token), &context)
        }
    }

    /// Holds a response that may come from another zone.
    mutating func hold(_ response: RecordResponse, _ context: inout SyncContext) {
        for wait in response.waits { context.applyRetryAfter(wait) }
        held = response
        if doubt == nil { doubt = CloudError(.changeTokenExpired) }
    }

    /// Whether the zone exists, and only the feed can show whether it was replaced.
    private var isOnlyAsked: Bool { doubt?.recovery == .refetch }

    /// Releases the response that was held while the feed was read.
    private mutating func endDoubt(_ context: inout SyncContext) {
        doubt = nil
        isOwnerChecked = false
        if losses == 0 { lane.resetBackoff() }
        guard let response = held else { return }
        held = nil
        context.tell(.released(response))
    }

    // MARK: The database's feed

    private mutating func takeChanges(
        _ request: RequestID,
        _ result: Result<ZoneFate, CloudError>,
        isOwnerConfirmed: Bool,
        _ context: inout SyncContext
    ) {
        guard lane.takes(request) else { return }
        switch result {
        case .success(let fate):
            unknownFeedErrors = 0
            isFeedPositionLost = false
            hasNoFeed = false
            take(fate, &context)
        case .failure(let error):
            takeFeedError(error, isOwnerConfirmed: isOwnerConfirmed, &context)
        }
    }

    private mutating func takeFeedError(
        _ error: CloudError,
        isOwnerConfirmed: Bool,
        _ context: inout SyncContext
    ) {
        let position = context.state.summary.databaseToken
        let canReadWholeFeed = position != nil && !isFeedPositionLost
        switch error.recovery {
        case .stop: takeMissingFeed(&context)
        // Only the position is lost; reading the feed from its beginning may still show what happened.
        case .refetch where canReadWholeFeed, .park where canReadWholeFeed: isFeedPositionLost = true
        case .refetch, .park: takeMissingFeed(&context)
        case .recreateZone where position != nil || context.state.newestKnown != nil:
            // The position belongs to another history, and so do all known records.
            isFeedPositionLost = true
            lose(nil, &context)
        case .retryThenPark where unknownFeedErrors + 1 >= Deferred.maximumUnknownErrors:
            context.emit(.failed(error))
            if canReadWholeFeed { isFeedPositionLost = true } else { takeMissingFeed(&context) }
        case .retryThenPark:
            unknownFeedErrors += 1
            fail(error, isOwnerConfirmed: isOwnerConfirmed, &context)
        default: fail(error, isOwnerConfirmed: isOwnerConfirmed, &context)
        }
    }

    private mutating func take(_ fate: ZoneFate, _ context: inout SyncContext) {
        guard doubt != nil else { return takePosition(fate.token, &context) }
        guard isOnlyAsked else { return lose(fate.reason, token: fate.token, &context) }
        if let reason = fate.reason {
            countLoss(after: CloudError(.zoneNotFound), &context)
            lose(knowsOfFormerZone(context.state) ? reason : nil, token: fate.token, &context)
        } else if context.state.zone(number).isPositionLate, holdsPage, knowsOfFormerZone(context.state) {
            // Records missing from the page may have been lost with a zone before the position was read.
            lose(nil, token: fate.token, &context)
        } else {
            keep(fate.token, &context)
        }
    }

    /// Treats the database as one without a feed: a missing zone is lost for an unknown reason.
    private mutating func takeMissingFeed(_ context: inout SyncContext) {
        unknownFeedErrors = 0
        isFeedPositionLost = false
        if doubt == nil {
            hasNoFeed = true
        } else if isOnlyAsked {
            keep(nil, &context)
        } else {
            lose(nil, &context)
        }
    }

    /// Stores the position in the feed before any record of the zone becomes known.
    private mutating func takePosition(_ token: ChangeToken?, _ context: inout SyncContext) {
        guard let token else { return hasNoFeed = true }
        store([.databaseToken(token)], &context)
    }

    private var holdsPage: Bool { if case .fetched? = held { true } else { false } }

    /// Whether a known version is missing from the held page; otherwise the loss is older than everything
    /// known and does not matter.
    ///
    /// Complexity: O(n log n), once for each lost zone.
    private func knowsOfFormerZone(_ state: SyncState) -> Bool {
        var shown = RecordTable<String>()
        if case .fetched(_, .success(let page))? = held {
            for record in page.records { shown[record.key] = record.version.changeTag }
        }
        return state.sortedKeys(in: number).contains { key in
            guard let record = state[key], record.hasVersions else { return false }
            guard let known = record.known, !known.changeTag.isEmpty else { return true }
            return shown[key] != known.changeTag
        }
    }

    // MARK: The outcome

    /// Keeps known records: no zone of this name was lost, so the held response is from the known zone.
    private mutating func keep(_ token: ChangeToken?, _ context: inout SyncContext) {
        if let token, token != context.state.summary.databaseToken {
            context.append([.zones(.databaseToken(token))])
        }
        endDoubt(&context)
    }

    /// Handles a zone loss reported by one of the lane's own requests.
    private mutating func lose(
        _ reason: DatabaseChanges.Deletion.Reason,
        after error: CloudError,
        _ context: inout SyncContext
    ) {
        context.emit(.failed(error))
        lose(reason, &context)
    }

    private mutating func lose(
        _ reason: DatabaseChanges.Deletion.Reason?,
        token: ChangeToken? = nil,
        _ context: inout SyncContext
    ) {
        unknownFeedErrors = 0
        // It would be about a zone that the state no longer knows.
        held = nil
        context.tell(.zoneLost)
        if reason == .deleted {
            for key in context.state.sortedKeys(in: number) { context.countForeignDeletion(key) }
        }
        let position = token ?? (isFeedPositionLost ? nil : context.state.summary.databaseToken)
        isFeedPositionLost = false
        let message = "\(SyncEvent.zoneLost(reason))"
        context.append(
            [
                .zones(.databaseToken(position)), .fact(.zoneLost(number, reason)),
                context.note(.zoneLost, nil, message),
            ],
            by: .zone
        )
        endDoubt(&context)
    }

    /// Ignores the response to a request in flight and the held one, which may be from another user's
    /// database.
    mutating func abandonResponses(_ context: inout SyncContext) {
        lane.abandon()
        held = nil
    }
}
