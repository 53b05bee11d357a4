import RecordCoding

/// Handling responses about records, and requests that get no response.
extension SyncStateMachine {
    /// Processes a response, or holds it if it may come from another zone.
    mutating func takeResponse(_ response: RecordResponse) {
        // A database without a feed cannot tell zones apart.
        guard context.state.summary.databaseToken != nil, isAwaited(response),
            response.mayBeFromAnother(than: zone.number, context.state)
        else { return process(response) }
        fetching.lane.hold(response.request)
        lookingUp.lane.hold(response.request)
        sending.lane.hold(response.request)
        zone.hold(response, &context)
    }

    private func isAwaited(_ response: RecordResponse) -> Bool {
        switch response {
        case .fetched(let request, _): fetching.lane.request == request
        case .lookedUp(let request, _): lookingUp.lane.request == request
        case .sent(let request, _): sending.lane.request == request
        }
    }

    mutating func process(_ response: RecordResponse) {
        switch response {
        case .fetched(let request, let result): fetching.take(request, result, &context)
        case .lookedUp(let request, let result): lookingUp.take(request, result, &deferred, &context)
        case .sent(let request, let result): sending.take(request, result, &deferred, &context)
        }
    }

    /// Treats a request without a timely response as one whose response was lost.
    mutating func takeDeadline(_ request: RequestID) {
        context.actions.append(.cancel(request))
        let error = CloudError(.serverResponseLost, message: "The server didn't respond in time.")
        if sending.lane.request == request { return process(.sent(request, .failure(error))) }
        if fetching.lane.request == request { return process(.fetched(request, .failure(error))) }
        if lookingUp.lane.request == request { return process(.lookedUp(request, .failure(error))) }
        if subscription.lane.request == request { return subscription.take(request, error, &context) }
        // All failures of the zone's requests are handled alike.
        zone.take(.saved(request, error), isOwnerConfirmed: account.isConfirmed, &context)
        account.take(request, .failure(error), &context)
    }

    /// Applies limits to the next request; a request in flight keeps the former ones.
    mutating func takeLimits(_ limits: DatabaseLimits) {
        context.configuration.maximumItems = limits.maximumItems
        context.configuration.maximumBytes = limits.maximumBytes
        sending.take(limits)
    }
}
