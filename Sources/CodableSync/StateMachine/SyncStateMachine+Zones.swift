import RecordCoding

/// A zone that is gone: why, and what becomes of its records.
extension SyncStateMachine {
    /// A zone that is missing more often in a row, whatever is done about it, waits for the lane's timer.
    static var maximumZoneLosses: Int { 3 }

    /// The owner must say what becomes of the records; another user who may be here is not held up by that.
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

    /// Notes that a request did not find the zone, so that its fate is looked up.
    mutating func examineZone(after error: CloudError) {
        guard zoneDoubt == nil else { return }
        zoneDoubt = error
        countZoneLoss(after: error)
    }

    private mutating func countZoneLoss(after error: CloudError) {
        zoneLosses += 1
        if zoneLosses > Self.maximumZoneLosses {
            // Made anew, and missing again, and again: not without a pause.
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
                // Only the position is lost: from its beginning the feed may still tell.
                isFeedPositionLost = true
            case .refetch, .park:
                takeLackOfFeed()
            case .recreateZone where state.summary.databaseToken != nil || state.newestKnown != nil:
                // The position belongs to another history, and so does everything else that is known.
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
            // What the page does not show may have gone with a zone before the position was read.
            loseZone(nil, token: fate.token)
        } else {
            keepZone(fate.token)
        }
    }

    /// Takes the database for one without a feed: a zone that is missing is lost for an unknown reason.
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

    /// A request of the set-up itself says what became of the zone.
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
        // Until it is stored nothing is requested; what is under way is of a zone that is no more.
        zoneDoubt = zoneDoubt ?? CloudError(.zoneNotFound)
        // The answers would tell of tags and tokens of a former zone.
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
