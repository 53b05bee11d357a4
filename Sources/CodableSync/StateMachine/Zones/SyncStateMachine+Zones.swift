import RecordCoding

/// The zone: it is created, the reason of its loss is found out, and what happens to its records is decided.
///
/// Another device may have recreated the zone after a loss that this device hasn't noticed. Everything in the
/// state comes from one zone: the one that existed at the stored position in the database's feed. A full
/// listing, a look-up or a refused save may come from its successor. Such a response is held while the feed is
/// read from the stored position. If the feed reports no loss, the response is from the known zone, and the
/// position advances. Otherwise the response is dropped, and the request is made again once the loss is stored.
/// The held request counts as the one in flight, so there is at most one.
extension SyncStateMachine {
    /// Notes that the zone is created.
    mutating func receiveZone() {
        wantFetch()
        // The feed so far is about earlier zones; it includes this device's own deletion of the last one.
        if state.summary.databaseToken != nil { context.state.setDatabaseToken(nil) }
        context.state.noteReady(zone.number)
        resetZoneBackoff()
        context.emit(.zoneReady)
    }

    private mutating func resetZoneBackoff() {
        if zone.losses <= ZoneProgress.maximumLosses { context.waits[.zone].backoff.reset() }
    }

    mutating func failZone(_ error: CloudError) {
        context.emit(.failed(error))
        switch error.recovery {
        // Callers get the error for a purge once it is stored; after a reset, they keep waiting.
        case .askUser where account.isConfirmed: loseZone(.purged)
        case .uploadEverything where account.isConfirmed && state.zone(zone.number).stage != .unreadable:
            loseZone(.encryptedDataReset)
        default: retryLater(.zone, after: error)
        }
    }

    // MARK: Doubt

    /// Notes that a request did not find the zone, so that the reason is looked up.
    mutating func examineZone(after error: CloudError) {
        guard zone.doubt == nil else { return }
        zone.doubt = error
        countZoneLoss(after: error)
    }

    private mutating func countZoneLoss(after error: CloudError) {
        zone.losses += 1
        guard zone.losses > ZoneProgress.maximumLosses else { return }
        // The zone keeps disappearing after it was created, so the next attempt waits.
        failCallers(error)
        context.backOff(.zone, after: error)
    }

    /// Notes that zone and account exist: the zone has accepted a change, or a fetch was complete and there is
    /// none to send.
    mutating func proveZone() {
        zone.losses = 0
        context.waits[.zone].succeed()
        context.waits[.account].succeed()
    }

    /// Ends the doubt, and processes the response that was held while the feed was read.
    private mutating func endZoneDoubt() {
        zone.doubt = nil
        zone.isOwnerChecked = false
        if zone.losses == 0 { context.waits[.zone].backoff.reset() }
        guard let (request, result) = zone.held else { return }
        zone.held = nil
        // Its waits began when it arrived.
        context.obeysWaits = false
        process(result, of: request)
        context.obeysWaits = true
    }

    // MARK: The database's feed

    mutating func failFeed(_ error: CloudError) {
        let position = state.summary.databaseToken
        let canReadWholeFeed = position != nil && !zone.isFeedPositionLost
        switch error.recovery {
        case .stop: doWithoutFeed()
        // Only the position is lost; reading the feed from its beginning may still show what happened.
        case .refetch where canReadWholeFeed, .park where canReadWholeFeed: zone.isFeedPositionLost = true
        case .refetch, .park: doWithoutFeed()
        case .recreateZone where position != nil || state.newestKnown != nil:
            // The position belongs to another history, and so do all known records.
            zone.isFeedPositionLost = true
            loseZone(nil)
        case .retryThenPark where zone.unknownFeedErrors + 1 >= Deferred.maximumUnknownErrors:
            context.emit(.failed(error))
            if canReadWholeFeed { zone.isFeedPositionLost = true } else { doWithoutFeed() }
        case .retryThenPark:
            zone.unknownFeedErrors += 1
            failZone(error)
        default: failZone(error)
        }
    }

    mutating func receive(_ fate: ZoneFate) {
        zone.unknownFeedErrors = 0
        zone.isFeedPositionLost = false
        zone.hasNoFeed = false
        guard zone.doubt != nil else { return beginFeed(at: fate.token) }
        guard zone.isOnlyAsked else { return loseZone(fate.reason, token: fate.token) }
        if let reason = fate.reason {
            countZoneLoss(after: CloudError(.zoneNotFound))
            loseZone(knowsOfFormerZone ? reason : nil, token: fate.token)
        } else if state.zone(zone.number).isPositionLate, zone.holdsPage, knowsOfFormerZone {
            // Records missing from the page may have been lost with a zone before the position was read.
            loseZone(nil, token: fate.token)
        } else {
            keepZone(fate.token)
        }
    }

    /// Treats the database as one without a feed: a missing zone is lost for an unknown reason.
    private mutating func doWithoutFeed() {
        zone.unknownFeedErrors = 0
        zone.isFeedPositionLost = false
        if zone.doubt == nil {
            zone.hasNoFeed = true
        } else if zone.isOnlyAsked {
            keepZone(nil)
        } else {
            loseZone(nil)
        }
    }

    /// Stores the position in the feed before any record of the zone becomes known.
    private mutating func beginFeed(at token: ChangeToken?) {
        guard let token else { return zone.hasNoFeed = true }
        context.state.setDatabaseToken(token)
        resetZoneBackoff()
    }

    /// Whether a known version is missing from the held page; otherwise the loss is older than everything
    /// known and does not matter.
    ///
    /// Complexity: O(n log n), once for each lost zone.
    private var knowsOfFormerZone: Bool {
        var shown = RecordTable<String>()
        if case .success(.page(let page))? = zone.held?.result {
            for record in page.records { shown[record.key] = record.version.changeTag }
        }
        return state.sortedKeys(in: zone.number).contains { key in
            guard let record = state[key], record.hasVersions else { return false }
            guard let known = record.known, !known.changeTag.isEmpty else { return true }
            return shown[key] != known.changeTag
        }
    }

    // MARK: The outcome

    /// Keeps known records: no zone of this name was lost, so the held response is from the known zone.
    private mutating func keepZone(_ token: ChangeToken?) {
        if let token, token != state.summary.databaseToken { context.state.setDatabaseToken(token) }
        endZoneDoubt()
    }

    /// Stores that the zone is lost, and with it every change tag and token.
    mutating func loseZone(_ reason: DatabaseChanges.Deletion.Reason?, token: ChangeToken? = nil) {
        zone.unknownFeedErrors = 0
        if reason == .deleted {
            for key in state.sortedKeys(in: zone.number) { context.countForeignDeletion(key) }
        }
        let position = token ?? (zone.isFeedPositionLost ? nil : state.summary.databaseToken)
        zone.isFeedPositionLost = false
        // These would be about a zone that the state no longer knows.
        zone.held = nil
        ignoreResponsesAboutRecords()
        lookingUp.queue = RecordQueue()
        context.began(.zone)
        context.state.setDatabaseToken(position)
        context.state.lose(zone.number, reason)
        context.emit(.zoneLost(reason))
        context.note(.zoneLost, nil, "\(SyncEvent.zoneLost(reason))")
        endZoneDoubt()
        endSubscription()
        fetching.isWanted = true
        calls.extendPass(state)
    }
}
