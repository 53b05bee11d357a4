import RecordCoding

import struct Foundation.Date

/// Account, zone and subscription: the setup before the first request for records.
extension SyncStateMachine {
    // These properties are read at every step, so none of them uses `&&` or `||`: in a debug build, the
    // right-hand side is a closure with a copy of the whole machine.

    /// Whether the engine may make requests: for a waiting caller, or because it syncs automatically.
    var mayWork: Bool {
        guard !isStopped, fault == nil else { return false }
        return waiters.isEmpty ? isAutomatic : true
    }

    var isAutomatic: Bool { isStarted ? configuration.automaticallySyncs : false }

    /// Whether records may be requested now.
    var isReady: Bool {
        guard mayWork, case .confirmed = account, state.summary.zone == .ready, zoneDoubt == nil,
            !isFeedPositionMissing
        else { return false }
        return !isInServerWait
    }

    var isInServerWait: Bool {
        if let serverWait { serverWait > now.monotonic } else { false }
    }

    /// When the wait that the server ordered ends; `nil` if there is none.
    var serverWaitEnd: Date? { isInServerWait ? serverWait.map(wallDate) : nil }

    mutating func advanceSetup() {
        guard mayWork, !isInServerWait, !setup.isBusy, !isWaiting(setup) else { return }
        switch account {
        case .unknown:
            request(\.setup) { .checkAccount($0) }
        case .other where !isSwitching:
            // The other user's state could not be opened, and they may have signed out since.
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
                // A different number each time, even after a restart with the same seed.
                let mark = random.next() ^ now.wall.timeIntervalSinceReferenceDate.bitPattern
                request(\.setup) { .saveZone($0, mark: mark) }
            case .ready:
                if zoneDoubt != nil, !isDoubtOfOwner {
                    // Another user's database lacks the zone too, so the account is checked first.
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

    /// Creates the subscription; sync works without one and does not wait for it.
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
            // The feed so far is about earlier zones; it includes this device's own deletion of the last one.
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
            // The zone is gone; the next zone gets a new subscription.
            examineZone(after: error)
        default:
            // Sync works without a subscription: the engine polls, and retries after a wait.
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
        // Only errors about the zone count here; an account look-up cannot report one. Callers get the error
        // for a purge once it is stored; after a reset, they keep waiting.
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
