import RecordCoding

/// Lost zones: finding the reason, and deciding what happens to the records.
extension SyncStateMachine {
    /// If the zone is missing more often in a row than this, the setup waits before it tries again.
    static var maximumZoneLosses: Int { 3 }

    /// Whether the owner must decide about the records after a purge; this does not block another user.
    var isDecisionAwaited: Bool {
        guard isPurgeStored else { return false }
        switch account {
        case .confirmed, .unavailable: return true
        case .unknown, .other: return false
        }
    }

    var isPurgeStored: Bool { state.summary.zone == .purged && !setup.isStoring }

    var isPurgeAnswerBeingStored: Bool {
        uncommitted.contains { if case .purgeResolved = $0.then { true } else { false } }
    }

    /// Notes that a request did not find the zone, so that the reason is looked up.
    mutating func examineZone(after error: CloudError) {
        guard zoneDoubt == nil else { return }
        zoneDoubt = error
        countZoneLoss(after: error)
    }

    private mutating func countZoneLoss(after error: CloudError) {
        zoneLosses += 1
        if zoneLosses > Self.maximumZoneLosses {
            // The zone keeps disappearing after it was created, so the next attempt waits.
            failWaiters(error)
            backOff(\.setup, .setupRetry, after: error)
        }
    }

    mutating func resolveDoubt(_ error: CloudError) {
        switch error.recovery {
        case .askUser: loseZone(.purged)
        case .uploadEverything: loseZone(.encryptedDataReset)
        default:
            let token = isFeedPositionLost ? nil : state.summary.databaseToken
            request(\.setup) { .readDatabaseChanges($0, since: token) }
        }
    }

    mutating func takeDatabaseChanges(_ request: RequestID, _ result: Result<ZoneFate, CloudError>) {
        guard isAnswer(request, in: \.setup) else { return }
        switch result {
        case .success(let fate):
            unknownFeedErrors = 0
            isFeedPositionLost = false
            hasNoFeed = false
            take(fate)
        case .failure(let error):
            switch error.recovery {
            case .stop:
                takeLackOfFeed()
            case .refetch where canReadWholeFeed, .park where canReadWholeFeed:
                // Only the position is lost; reading the feed from its beginning may still show what
                // happened.
                isFeedPositionLost = true
            case .refetch, .park:
                takeLackOfFeed()
            case .recreateZone where state.summary.databaseToken != nil || state.newestKnown != nil:
                // The position belongs to another history, and so do all known records.
                isFeedPositionLost = true
                loseZone(nil)
            case .retryThenPark where unknownFeedErrors + 1 >= Self.maximumUnknownErrors:
                emit(.failed(error))
                takeLackOfFeed()
            case .retryThenPark:
                unknownFeedErrors += 1
                failSetup(error)
            default:
                failSetup(error)
            }
        }
    }

    private var canReadWholeFeed: Bool { state.summary.databaseToken != nil && !isFeedPositionLost }

    private mutating func take(_ fate: ZoneFate) {
        guard zoneDoubt != nil else { return takePosition(fate.token) }
        guard isOnlyAsked else { return loseZone(fate.reason, token: fate.token) }
        if let reason = fate.reason {
            countZoneLoss(after: CloudError(.zoneNotFound))
            loseZone(knowsOfFormerZone ? reason : nil, token: fate.token)
        } else if state.summary.isPositionLate, holdsFirstPage, knowsOfFormerZone {
            // Records missing from the page may have been lost with a zone before the position was read.
            loseZone(nil, token: fate.token)
        } else {
            keepZone(fate.token)
        }
    }

    /// Treats the database as one without a feed: a missing zone is lost for an unknown reason.
    private mutating func takeLackOfFeed() {
        unknownFeedErrors = 0
        isFeedPositionLost = false
        if zoneDoubt == nil {
            hasNoFeed = true
        } else if isOnlyAsked {
            keepZone(nil)
        } else {
            loseZone(nil)
        }
    }

    /// Handles a zone loss reported by one of the setup's own requests.
    mutating func loseZone(_ reason: DatabaseChanges.Deletion.Reason, after error: CloudError) {
        emit(.failed(error))
        loseZone(reason)
    }

    mutating func loseZone(_ reason: DatabaseChanges.Deletion.Reason?, token: ChangeToken? = nil) {
        setup.isStoring = true
        unknownFeedErrors = 0
        abandonRequest(in: \.subscribing)
        subscribing = Lane()
        hasToldOfSubscription = false
        // Nothing is requested until the loss is stored.
        zoneDoubt = zoneDoubt ?? CloudError(.zoneNotFound)
        // Responses in flight would carry change tags and tokens of the lost zone.
        abandonRequestsForRecords()
        forgetVersionsHandedOut()
        wantsFetch = true
        let position = token ?? (isFeedPositionLost ? nil : state.summary.databaseToken)
        isFeedPositionLost = false
        append(
            [.databaseToken(position), .zoneLost(reason)]
                + [note(.zoneLost, nil, "The zone is gone: \(reason?.rawValue ?? "no reason found").")],
            then: .zoneExamined
        )
    }
}
