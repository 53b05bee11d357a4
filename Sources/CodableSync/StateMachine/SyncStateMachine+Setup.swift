import RecordCoding

import struct Foundation.Date

/// Account, zone, subscription: what must be right before the first request for records.
extension SyncStateMachine {
    // Asked at each step, so none of these joins facts by an operator: in a build for debugging, the right side of one
    // is a closure with a copy of the whole machine.

    /// Somebody wants the engine to talk to the cloud.
    var mayWork: Bool {
        guard !isStopped, fault == nil else { return false }
        return waiters.isEmpty ? isAutomatic : true
    }

    var isAutomatic: Bool { isStarted ? configuration.automaticallySyncs : false }

    /// Records may be requested now.
    var isReady: Bool {
        guard mayWork, case .confirmed = account, state.summary.zone == .ready, zoneDoubt == nil,
            !isFeedPositionMissing
        else { return false }
        return !isInServerWait
    }

    var isInServerWait: Bool {
        if let serverWait { serverWait > now.monotonic } else { false }
    }

    /// When the wait is over that the server ordered; `nil` if there is none.
    var serverWaitEnd: Date? { isInServerWait ? serverWait.map(wallDate) : nil }

    mutating func advanceSetup() {
        guard mayWork, !isInServerWait, !setup.isBusy, !isWaiting(setup) else { return }
        switch account {
        case .unknown:
            request(\.setup) { .checkAccount($0) }
        case .other where !isSwitching:
            // Their state could not be opened: they may be gone by now.
            request(\.setup) { .checkAccount($0) }
        case .unavailable, .other:
            break
        case .confirmed where isSlotTakenByRecords: break
        case .confirmed:
            switch state.summary.zone {
            case .purged: break
            case .unknown where isPurgeAnswerBeingStored: break
            case .unknown: request(\.setup) { .saveZone($0, mark: nil) }
            case .unreadable:
                // Another one each time, also after a restart with the same seed.
                let mark = random.next() ^ now.wall.timeIntervalSinceReferenceDate.bitPattern
                request(\.setup) { .saveZone($0, mark: mark) }
            case .ready:
                if zoneDoubt != nil, !isDoubtOfOwner {
                    // Another user's database does not have it either.
                    isDoubtOfOwner = true
                    renewAccount()
                    advanceSetup()
                } else if let zoneDoubt {
                    resolveDoubt(zoneDoubt)
                } else if isFeedPositionMissing {
                    request(\.setup) { .readDatabaseChanges($0, since: nil) }
                }
            }
        }
    }

    /// Makes the subscription; sync works without one, and does not wait for it.
    mutating func advanceSubscribing() {
        guard isReady, !state.summary.isSubscribed, !setup.isStoring, !subscribing.isBusy,
            !isWaiting(subscribing)
        else { return }
        request(\.subscribing) { .subscribe($0) }
    }

    mutating func takeZoneSaved(_ request: RequestID, _ error: CloudError?) {
        guard isAnswer(request, in: \.setup) else { return }
        if let error {
            failSetup(error)
        } else {
            if zoneLosses <= Self.maximumZoneLosses { setup.backoff.reset() }
            setup.isStoring = true
            wantsFetch = wantsFetch || isAutomatic
            // Everything in the feed so far is of former zones, this device's own removal of the last one included.
            append(
                (state.summary.databaseToken == nil ? [] : [.databaseToken(nil)]) + [.zoneReady],
                then: .setup
            )
            emit(.zoneReady)
        }
    }

    mutating func takeSubscribed(_ request: RequestID, _ error: CloudError?) {
        guard isAnswer(request, in: \.subscribing) else { return }
        guard let error else {
            subscribing.backoff.reset()
            hasToldOfSubscription = false
            subscribing.isStoring = true
            return append([.subscribed], flush: false, then: .subscribed)
        }
        heed(error)
        switch error.recovery {
        case .recreateZone, .askUser, .uploadEverything:
            // The zone is gone; the next one is subscribed to when it is made.
            examineZone(after: error)
        default:
            // Sync works without: the engine polls, and tries again after a wait.
            backOff(\.subscribing, .subscriptionRetry, after: error)
            if !hasToldOfSubscription { emit(.subscriptionFailed(error)) }
            hasToldOfSubscription = true
        }
    }

    private var isAccountConfirmed: Bool { if case .confirmed = account { true } else { false } }

    mutating func failSetup(_ error: CloudError) {
        heed(error)
        switch error.recovery {
        case .waitForAccount:
            loseAccount(error)
        case .stop:
            fault = error
        // Said of the zone, that is; the account's look-up knows nothing of zones. Callers learn of a purge when
        // it is stored, and after a reset they go on to wait.
        case .askUser where isAccountConfirmed:
            return loseZone(.purged, after: error)
        case .uploadEverything where isAccountConfirmed && state.summary.zone != .unreadable:
            return loseZone(.encryptedDataReset, after: error)
        default:
            backOff(\.setup, .setupRetry, after: error)
        }
        failWaiters(error)
        emit(.failed(error))
    }
}
