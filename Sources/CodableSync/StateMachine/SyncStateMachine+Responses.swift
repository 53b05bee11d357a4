import RecordCoding

/// Processing responses about records, and what several subjects do after errors.
extension SyncStateMachine {
    mutating func process(_ response: RecordResponse) {
        switch response {
        case .fetched(let request, let result): receive(page: result, of: request)
        case .lookedUp(let request, let result): receive(lookedUp: result, of: request)
        case .sent(let request, let result): receive(sent: result, of: request)
        }
    }

    /// Treats a request without a timely response as one whose response was lost.
    mutating func missResponse(to request: RequestID) {
        context.actions.append(.cancel(request))
        let error = CloudError(.serverResponseLost, message: "The server didn't respond in time.")
        switch context.requests.subject(of: request) {
        case .account: take(.account(.checked(request, .failure(error))))
        case .zone:
            if context.takes(request, of: .zone) { failZone(error) }
        case .subscription: receive(subscribed: error, of: request)
        case .fetching: receive(page: .failure(error), of: request)
        case .lookingUp: receive(lookedUp: .failure(error), of: request)
        case .sending: receive(sent: .failure(error), of: request)
        case .resolving, .delivering, nil: break
        }
    }

    /// Ignores the responses to all requests for records.
    mutating func ignoreResponsesAboutRecords() {
        context.requests.end(.fetching)
        ignoreSending()
        ignoreLookUp()
    }

    /// Applies limits to the next request; a request in flight keeps the former ones.
    mutating func receive(_ limits: DatabaseLimits) {
        context.configuration.maximumItems = limits.maximumItems
        context.configuration.maximumBytes = limits.maximumBytes
        sending.planner.take(limits)
    }

    // MARK: Errors

    /// Fails the callers that wait for a part of the work, or all callers if no part is given.
    mutating func failCallers(_ error: CloudError, of part: SyncParts? = nil) {
        var failure = SyncError.cloud(error)
        if error.retryAfter != nil { failure.retryDate = context.serverWaitEnd }
        failCallers(failure, of: part)
    }

    mutating func failCallers(_ failure: SyncError, of part: SyncParts? = nil) {
        calls.fail(failure, of: part)
        if part == nil { answerRemovals(.failed(failure)) }
    }

    /// Handles an error that concerns the account, the configuration or the zone.
    ///
    /// - Returns: Whether it is one; if not, only what has failed waits.
    mutating func handleGeneral(_ error: CloudError) -> Bool {
        switch error.recovery {
        case .recreateZone, .askUser, .uploadEverything: examineZone(after: error)
        default: return stopIfUnusable(after: error)
        }
        return true
    }

    /// Stops requests if none can succeed.
    ///
    /// - Returns: Whether none can.
    mutating func stopIfUnusable(after error: CloudError) -> Bool {
        guard [.waitForAccount, .stop].contains(error.recovery) else { return false }
        stopWork(after: error)
        return true
    }

    /// Stops requests, because the account is unusable, or the configuration is wrong.
    mutating func stopWork(after error: CloudError) {
        if error.recovery == .stop { calls.fail(with: error) } else { loseAccount(after: error) }
    }

    // MARK: What changes of the state lead to

    /// Passes on which records have changed, until nothing is left.
    mutating func settle() {
        while true {
            if !state.unsendable.isEmpty {
                passOnUnsendable()
            } else if !state.renewed.isEmpty {
                let renewed = state.renewed
                context.state.renewed = []
                delivering.takeRenewed(renewed, &context)
                delivering.dropUnasked(renewed, &context)
            } else if !state.reshown.isEmpty {
                let reshown = state.reshown
                context.state.reshown = []
                delivering.takeReshown(reshown, &context)
            } else {
                return endMetDemand()
            }
        }
    }

    /// Drops records that cannot be sent from the deferred changes, and looks them up if they must be read.
    private mutating func passOnUnsendable() {
        let keys = state.unsendable
        context.state.unsendable = []
        for key in keys where !state.sendQueue.contains(key) {
            deferred.remove(key)
            sendDelay.remove(key)
            // The change may have been parked because of a look-up, which is not repeated.
            if let record = state[key], record.mustLookUp, record.pending?.parked == nil { lookUp(key) }
        }
    }
}
