import RecordCoding

/// A zone that is gone: why, and what becomes of its records.
extension SyncStateMachine {
    /// A zone that is missing more often in a row, whatever is done about it, waits for the lane's timer.
    static var maximumZoneLosses: Int { 3 }

    /// The owner must say what becomes of the records; another user who may be here is not held up by that.
    var isDecisionAwaited: Bool {
        guard state.summary.zone == .purged else { return false }
        switch account {
        case .confirmed, .unavailable: return true
        case .unknown, .other: return false
        }
    }

    /// Notes that a request did not find the zone, so that its fate is looked up.
    mutating func examineZone(after error: CloudError) {
        guard zoneDoubt == nil else { return }
        zoneDoubt = error
        zoneLosses += 1
        if zoneLosses > Self.maximumZoneLosses {
            // Made anew, and missing again, and again: not without a pause.
            failWaiters(error)
            backOff(\.setup, .setupRetry, after: error)
        }
    }

    /// Whether it must first be asked if the zone is still the one that the known versions are of.
    ///
    /// Another device may have made it anew. What is not in it then was not deleted by anybody.
    mutating func doubtsSameZone() -> Bool {
        guard !isZoneExamined, state.summary.databaseToken != nil else { return false }
        if zoneDoubt == nil { zoneDoubt = CloudError(.changeTokenExpired) }
        advanceSetup()
        return true
    }

    /// No zone of this name has gone since: what is not there was deleted.
    private mutating func keepZone(_ token: ChangeToken?) {
        isZoneExamined = true
        guard let token, token != state.summary.databaseToken else { return zoneDoubt = nil }
        setup.isStoring = true
        append([.databaseToken(token)], then: .zoneExamined)
    }

    mutating func resolveDoubt(_ error: CloudError) {
        switch error.recovery {
        case .askUser: loseZone(.purged)
        case .uploadEverything: loseZone(.encryptedDataReset)
        default:
            let token = state.summary.databaseToken
            request(\.setup) { .readDatabaseChanges($0, since: token) }
        }
    }

    mutating func takeDatabaseChanges(_ request: RequestID, _ result: Result<ZoneFate, CloudError>) {
        guard isAnswer(request, in: \.setup) else { return }
        switch result {
        case .success(let fate):
            if fate.reason == nil, isOnlyAsked { return keepZone(fate.token) }
            loseZone(fate.reason, token: fate.token)
        case .failure(let error) where error.recovery == .stop && isOnlyAsked:
            // There is no such feed here.
            keepZone(nil)
        case .failure(let error) where error.recovery == .refetch || error.recovery == .park:
            if state.summary.databaseToken == nil, isOnlyAsked {
                keepZone(nil)
            } else if state.summary.databaseToken == nil {
                // The feed cannot tell; nobody asked for the records to go.
                loseZone(nil)
            } else {
                // Only the position is lost: from its beginning the feed may still tell.
                setup.isStoring = true
                append([.databaseToken(nil)], then: .setup)
            }
        case .failure(let error) where error.recovery == .stop || error.recovery == .recreateZone:
            // There is no such feed here, or the history in which it was read is not this one.
            loseZone(nil)
        case .failure(let error):
            if error.recovery == .retryThenPark { unknownFeedErrors += 1 }
            if unknownFeedErrors < Self.maximumUnknownErrors { return failSetup(error) }
            emit(.failed(error))
            if isOnlyAsked { keepZone(nil) } else { loseZone(nil) }
        }
    }

    /// The zone is there, and the question is whether it is another one.
    private var isOnlyAsked: Bool { zoneDoubt?.recovery == .refetch }

    /// A request of the set-up itself says what became of the zone.
    mutating func loseZone(_ reason: DatabaseChanges.Deletion.Reason, after error: CloudError) {
        emit(.failed(error))
        loseZone(reason)
    }

    mutating func loseZone(_ reason: DatabaseChanges.Deletion.Reason?, token: ChangeToken? = nil) {
        setup.isStoring = true
        unknownFeedErrors = 0
        subscribing = Lane()
        hasToldOfSubscription = false
        // Until it is stored nothing is requested; what is under way is of a zone that is no more.
        zoneDoubt = zoneDoubt ?? CloudError(.zoneNotFound)
        isZoneExamined = false
        // The answers would tell of tags and tokens of a former zone.
        abandonRequestsForRecords()
        lookUps = RecordQueue()
        forgetVersionsHandedOut()
        wantsFetch = true
        append(
            [.databaseToken(token ?? state.summary.databaseToken), .zoneLost(reason)]
                + [note(.zoneLost, nil, "The zone is gone: \(reason?.rawValue ?? "no reason found").")],
            then: .zoneExamined
        )
    }
}
