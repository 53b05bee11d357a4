import RecordCoding

import struct Foundation.Date

/// Account, zone, subscription: what must be right before the first request for records.
extension SyncStateMachine {
    /// Somebody wants the engine to talk to the cloud.
    var mayWork: Bool {
        !isStopped && fault == nil && (isAutomatic || !waiters.isEmpty)
    }

    var isAutomatic: Bool { isStarted && configuration.automaticallySyncs }

    /// Records may be requested now.
    var isReady: Bool {
        guard mayWork, case .confirmed = account, state.summary.zone == .ready else { return false }
        return zoneDoubt == nil && !isInServerWait
    }

    var isInServerWait: Bool {
        if let serverWait { serverWait > now.monotonic } else { false }
    }

    mutating func advanceSetup() {
        guard mayWork, !isInServerWait, !setup.isBusy, !isWaiting(setup) else { return }
        switch account {
        case .unknown:
            request(\.setup) { .checkAccount($0) }
        case .unavailable, .other:
            break
        case .confirmed:
            switch state.summary.zone {
            case .purged: break
            case .unknown: request(\.setup) { .saveZone($0, replacing: false) }
            case .unreadable: request(\.setup) { .saveZone($0, replacing: true) }
            case .ready:
                if let zoneDoubt {
                    resolveDoubt(zoneDoubt)
                } else if !state.summary.isSubscribed, !subscriptionFailed {
                    request(\.setup) { .subscribe($0) }
                }
            }
        }
    }

    mutating func takeAccount(_ request: RequestID, _ result: Result<CloudAccount, CloudError>) {
        guard isAnswer(request, in: \.setup) else { return }
        switch result {
        case .failure(let error):
            // A look-up that fails says nothing about the account: everything waits.
            failSetup(error)
        case .success(let found):
            report(found.status)
            if found.status == .available, let user = found.userRecordName {
                accept(user: user)
            } else {
                account = .unavailable(found.status)
                // The signal of its return may be lost.
                backOff(\.setup, .setupRetry, after: nil)
            }
        }
    }

    private mutating func accept(user: String) {
        if let owner = configuration.userRecordName, owner != user {
            account = .other(user)
            emit(.accountChanged(from: owner, to: user))
            return
        }
        setup.backoff.reset()
        account = .confirmed(user)
        if configuration.automaticallySyncs, isStarted { wantsFetch = true }
    }

    mutating func takeZoneSaved(_ request: RequestID, _ error: CloudError?) {
        guard isAnswer(request, in: \.setup) else { return }
        if let error {
            failSetup(error)
        } else {
            if zoneLosses <= Self.maximumZoneLosses { setup.backoff.reset() }
            setup.isStoring = true
            wantsFetch = wantsFetch || isAutomatic
            append([.zoneReady], then: .setup)
            emit(.zoneReady)
        }
    }

    mutating func takeSubscribed(_ request: RequestID, _ error: CloudError?) {
        guard isAnswer(request, in: \.setup) else { return }
        if let error {
            // Sync works without: the engine polls, and tries again when it is opened the next time.
            subscriptionFailed = true
            heed(error)
            emit(.subscriptionFailed(error))
        } else {
            setup.isStoring = true
            append([.subscribed], then: .setup)
        }
    }

    private mutating func failSetup(_ error: CloudError) {
        heed(error)
        switch error.recovery {
        case .waitForAccount:
            loseAccount(error)
        case .stop:
            fault = error
        case .askUser:
            loseZone(.purged)
        default:
            backOff(\.setup, .setupRetry, after: error)
        }
        failWaiters(error)
        emit(.failed(error))
    }

    // MARK: A zone that is gone

    /// A zone that is missing more often in a row, whatever is done about it, waits for the lane's timer.
    private static var maximumZoneLosses: Int { 3 }

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

    private mutating func resolveDoubt(_ error: CloudError) {
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
            loseZone(fate.reason, token: fate.token)
        case .failure(let error) where error.recovery == .refetch || error.recovery == .stop:
            // The feed cannot tell; nobody asked for the records to go.
            loseZone(nil)
        case .failure(let error):
            failSetup(error)
        }
    }

    private mutating func loseZone(_ reason: DatabaseChanges.Deletion.Reason?, token: ChangeToken? = nil) {
        setup.isStoring = true
        // Until it is stored nothing is requested; what is under way is of a zone that is no more.
        zoneDoubt = zoneDoubt ?? CloudError(.zoneNotFound)
        abandonRequests()
        wantsFetch = true
        emit(.zoneLost(reason))
        append(
            [.databaseToken(token ?? state.summary.databaseToken), .zoneLost(reason)]
                + [note(.zoneLost, nil, "The zone is gone: \(reason?.rawValue ?? "no reason found").")],
            then: .zoneLost
        )
    }

    /// Takes the answers to what is under way for lost ones: they tell of tags and tokens of a former zone.
    private mutating func abandonRequests() {
        for lane in [\SyncStateMachine.fetching, \.sending, \.lookingUp] { abandonRequest(in: lane) }
        if !sending.isStoring { clearInFlight() }
        if !lookingUp.isStoring { beingLookedUp = [] }
        lookUps = RecordQueue()
        deletedInFlight = RecordQueue()
        forgetVersionsHandedOut()
    }

    static func error(for status: AccountStatus) -> CloudError {
        switch status {
        case .temporarilyUnavailable: CloudError(.accountTemporarilyUnavailable)
        case .restricted: CloudError(.managedAccountRestricted)
        case .noAccount, .couldNotDetermine, .available: CloudError(.notAuthenticated)
        }
    }
}
