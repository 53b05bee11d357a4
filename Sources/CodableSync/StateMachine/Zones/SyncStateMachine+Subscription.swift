import RecordCoding

/// The subscription to the zone's changes; sync works without one and doesn't wait for it.
///
/// A server may lose a subscription, and pushes then stop silently. So it is compared with the server's
/// at each start and once a day.
extension SyncStateMachine {
    /// Creates the subscription if there is none, or if the server may have lost it.
    mutating func advanceSubscribing() {
        guard isReady, !context.requests.contains(.subscription), !context.isWaiting(.subscription),
            !subscription.isRemovalWanted
        else { return }
        let isMade = state.zone(zone.number).isSubscribed
        if isMade, context.now.isBefore(subscription.expiry) { return }
        context.begin(.subscribe(isMade: isMade))
    }

    /// Notes that the server has the subscription, or no longer has it.
    mutating func receiveSubscription(isDeleted: Bool) {
        if isDeleted { return answerRemovals(.done) }
        subscription.checkedAt = context.now.monotonic
        if !state.zone(zone.number).isSubscribed { context.state.noteSubscribed(to: zone.number) }
        context.waits[.subscription].succeed()
        subscription.hasToldOfFailure = false
    }

    mutating func failSubscribing(_ error: CloudError) {
        switch error.recovery {
        // The zone is gone; the next zone gets a new subscription.
        case .recreateZone, .askUser, .uploadEverything: examineZone(after: error)
        default:
            // Sync works without a subscription: the engine polls, and retries after a wait.
            context.backOff(.subscription, after: error)
            if !subscription.hasToldOfFailure { context.emit(.subscriptionFailed(error)) }
            subscription.hasToldOfFailure = true
        }
    }

    /// Starts over after the loss of the zone, whose subscription is lost with it.
    mutating func endSubscription() {
        context.requests.end(.subscription)
        context.waits[.subscription] = Waits.Wait()
        subscription = SubscriptionProgress(removals: subscription.removals)
    }

    // MARK: Deleting

    /// Deletes the subscription of the user who is signed in if a call waits for it; the engine is stopped.
    mutating func advanceUnsubscribing() {
        guard subscription.isRemovalWanted else { return }
        if let end = context.serverWaitEnd { return answerRemovals(.failed(.waiting(until: end))) }
        switch account.stage {
        case .confirmed:
            if context.requests.contains(.subscription) { return }
            context.waits.end(.subscription)
            context.begin(.unsubscribe)
        case .unknown: checkAccount()
        case .unavailable(let status): answerRemovals(.failed(.cloud(status.error)))
        // Continues with the next user's state.
        case .other where account.isSwitching: break
        case .other:
            if let failure = account.switchFailure {
                answerRemovals(.failed(failure))
            } else {
                checkAccount()
            }
        }
    }

    mutating func failUnsubscribing(_ error: CloudError) {
        switch error.recovery {
        // There is none, or its zone is gone.
        case .acceptDeletion, .recreateZone, .askUser, .uploadEverything: answerRemovals(.done)
        default: answerRemovals(.failed(.cloud(error)))
        }
    }

    /// Answers the calls that wait until the subscription is deleted.
    mutating func answerRemovals(_ answer: CallAnswer) {
        for call in subscription.removals { context.answer(call, answer) }
        subscription.removals = []
    }
}
