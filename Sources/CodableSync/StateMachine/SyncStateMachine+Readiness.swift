import RecordCoding

/// Deciding when requests may begin, and the work before and after requests for records.
extension SyncStateMachine {
    // These properties are read at every step, so none of them uses `&&` or `||`: in a debug build, the
    // right-hand side is a closure with a copy of the whole machine.

    /// Whether the engine may make requests: for a waiting caller, or because it syncs automatically.
    var mayWork: Bool { calls.mayWork(context.configuration) }

    var isAutomatic: Bool { calls.isAutomatic(context.configuration) }

    /// Whether records may be requested now.
    var isReady: Bool {
        guard mayWork, account.isConfirmed, zone.isReady(context.state) else { return false }
        return !context.isInServerWait
    }

    /// Whether the owner must decide about the records after a purge; this does not block another user.
    var isDecisionAwaited: Bool {
        guard isPurgeStored else { return false }
        switch account.stage {
        case .confirmed, .unavailable: return true
        case .unknown, .other: return false
        }
    }

    /// Whether the app must decide about purged records.
    var isPurgeStored: Bool { zone.isPurged(context.state) }

    /// Looks the account up, then creates or examines the zone, then subscribes to it.
    mutating func advanceSetup() {
        if subscription.isRemovalWanted { advanceRemoval() }
        if mayWork, !context.isInServerWait { advanceAccountAndZone() }
        guard isReady else { return }
        subscription.advance(&context)
        settle()
    }

    /// Deletes the subscription of the user who is signed in; the engine is stopped.
    private mutating func advanceRemoval() {
        if let end = context.serverWaitEnd {
            return subscription.answer(.failed(.waiting(until: end)), &context)
        }
        switch account.stage {
        case .confirmed: subscription.advanceRemoval(&context)
        case .unknown: account.advance(&context)
        case .unavailable(let status): subscription.answer(.failed(.cloud(status.error)), &context)
        // Continues with the next user's state.
        case .other where account.isSwitching: break
        case .other:
            if let failure = account.switchFailure {
                subscription.answer(.failed(failure), &context)
            } else {
                account.advance(&context)
            }
        }
        settle()
    }

    private mutating func advanceAccountAndZone() {
        // A response about the zone may itself show that the account is unusable, so it comes first.
        if account.mustLookUp {
            if !zone.lane.isBusy { account.advance(&context) }
            return settle()
        }
        guard account.isConfirmed, !areRecordsRequested else { return }
        if zone.beginOwnerCheck(context) {
            // Another user's database lacks the zone too, so the account is checked first.
            account.renewInDoubt(context)
            return advanceAccountAndZone()
        }
        zone.advance(&context)
        settle()
    }

    mutating func advanceReconciling() {
        resolving.advance(sending.inFlight, &context)
        settle()
    }

    mutating func advanceDelivering() {
        delivering.advance(&context)
        settle()
    }

    /// Flushes remaining entries once no other work is in progress.
    mutating func advanceFlushing() {
        guard resolving.isIdle, isSlotFree, !subscription.lane.isBusy, delivering.isIdle else { return }
        context.flushRest(by: .flush)
    }
}
