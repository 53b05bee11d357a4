import RecordCoding

/// Processing responses about records, and requests that get none.
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
}
