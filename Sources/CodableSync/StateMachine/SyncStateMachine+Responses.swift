import RecordCoding

/// What all responses have in common, and requests that get none.
extension SyncStateMachine {
    /// Receives a response, or holds it if it may come from another zone.
    mutating func receive(_ result: CloudResult, of id: RequestID) {
        // A database without a feed cannot tell zones apart.
        guard state.summary.databaseToken != nil, let request = context.requests.request(id),
            result.mayBeFromAnother(than: zone.number, request, state)
        else { return process(result, of: id) }
        context.requests.hold(id)
        for wait in result.waits { context.applyRetryAfter(wait) }
        zone.held = (id, result)
        if zone.doubt == nil { zone.doubt = CloudError(.changeTokenExpired) }
    }

    /// Processes a response; late ones are ignored.
    mutating func process(_ result: CloudResult, of id: RequestID) {
        guard let request = context.requests.end(id) else { return }
        switch result {
        case .success(let answer): receive(answer, to: request)
        case .failure(let error):
            context.applyRetryAfter(error.retryAfter)
            fail(request, error)
        }
    }

    private mutating func receive(_ answer: CloudAnswer, to request: CloudRequest) {
        switch answer {
        case .account(let found): receive(found)
        case .zoneSaved: receiveZone()
        case .databaseChanges(let fate): receive(fate)
        case .subscriptionModified: receiveSubscription(isDeleted: request == .unsubscribe)
        case .page(let page): receive(page)
        case .records(let found): if case .lookUp(let keys) = request { receive(found, of: keys) }
        case .sendResults(let results): receive(results)
        }
    }

    /// Handles the failure of a request as a whole.
    private mutating func fail(_ request: CloudRequest, _ error: CloudError) {
        switch request {
        case .checkAccount: failAccount(error)
        case .saveZone: failZone(error)
        case .readDatabaseChanges: failFeed(error)
        case .subscribe: failSubscribing(error)
        case .unsubscribe: failUnsubscribing(error)
        case .fetch: failPage(error)
        case .lookUp(let keys): failLookUp(of: keys, error)
        case .send(let items): failSending(items, error)
        }
    }

    // MARK: Failures

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

    /// Fails the callers that wait for a part of the work, which is tried again after a wait.
    ///
    /// If the account is unusable or the configuration is wrong, no request can succeed, and all of them stop.
    ///
    /// - Parameters:
    ///   - subject: What has failed.
    ///   - error: The error.
    ///   - part: The part of the work; `nil` fails all callers.
    /// - Returns: Whether it is tried again.
    @discardableResult
    mutating func retryLater(
        _ subject: Subject,
        after error: CloudError,
        failing part: SyncParts? = nil
    ) -> Bool {
        failCallers(error, of: part)
        switch error.recovery {
        case .stop: calls.fault = error
        case .waitForAccount: loseAccount(after: error)
        default:
            context.backOff(subject, after: error)
            return true
        }
        return false
    }

    // MARK: Requests without a response

    /// Treats a request without a timely response as one whose response was lost.
    mutating func missResponse(to request: RequestID) {
        context.actions.append(.cancel(request))
        let error = CloudError(.serverResponseLost, message: "The server didn't respond in time.")
        process(.failure(error), of: request)
    }

    /// Ignores the responses to all requests for records.
    mutating func ignoreResponsesAboutRecords() {
        context.requests.end(.fetching, .lookingUp, .sending)
        sending.inFlight = InFlight()
    }

    /// Applies limits to the next request; a request in flight keeps the former ones.
    mutating func receive(_ limits: DatabaseLimits) {
        context.configuration.maximumItems = limits.maximumItems
        context.configuration.maximumBytes = limits.maximumBytes
        sending.planner.take(limits)
    }
}
