import RecordCoding

import struct Foundation.Date

/// Requests, their deadlines and their failures.
extension SyncStateMachine {
    mutating func request(
        _ lane: WritableKeyPath<SyncStateMachine, Lane>,
        _ action: (RequestID) -> SyncAction
    ) {
        let request = nextNumber()
        self[keyPath: lane].request = request
        actions.append(.setTimer(.deadline(request), at: now.monotonic + configuration.requestDeadline))
        actions.append(action(request))
    }

    /// Ends the lane's request if this is its response; late responses are ignored.
    mutating func isAnswer(_ request: RequestID, in lane: WritableKeyPath<SyncStateMachine, Lane>) -> Bool {
        guard self[keyPath: lane].request == request else { return false }
        self[keyPath: lane].request = nil
        actions.append(.cancelTimer(.deadline(request)))
        endDemand(for: request)
        return true
    }

    /// Ignores the response to the lane's request.
    mutating func abandonRequest(in lane: WritableKeyPath<SyncStateMachine, Lane>) {
        guard let request = self[keyPath: lane].request else { return }
        self[keyPath: lane].request = nil
        actions.append(.cancelTimer(.deadline(request)))
        endDemand(for: request)
    }

    /// Ignores the responses to all requests for records.
    mutating func abandonRequestsForRecords() {
        for lane in [\SyncStateMachine.fetching, \.sending, \.lookingUp] { abandonRequest(in: lane) }
        if !sending.isStoring { clearInFlight() }
        if !lookingUp.isStoring { beingLookedUp = [] }
    }

    /// A lane and the timer that ends its wait after a failure.
    typealias OwnWait = (lane: WritableKeyPath<SyncStateMachine, Lane>, timer: SyncTimer)

    /// The engine's own waits, which a caller may end early; a wait ordered by the server is not among them.
    static var ownWaits: [OwnWait] {
        [
            (\.setup, .setupRetry), (\.subscribing, .subscriptionRetry), (\.fetching, .fetchRetry),
            (\.lookingUp, .lookUpRetry), (\.resolving, .resolveRetry), (\.sending, .sendRetry),
        ]
    }

    /// The waits that would delay what a caller requests.
    static func ownWaits(for parts: SyncParts) -> [OwnWait] {
        ownWaits.filter { wait in
            switch wait.timer {
            case .fetchRetry: parts.contains(.fetch)
            case .sendRetry: parts.contains(.send)
            // Sync works without a subscription.
            case .subscriptionRetry: false
            default: true
            }
        }
    }

    mutating func endOwnWaits(of waits: [OwnWait]) {
        for wait in waits where self[keyPath: wait.lane].retryAt != nil {
            self[keyPath: wait.lane].retryAt = nil
            actions.append(.cancelTimer(wait.timer))
        }
    }

    /// Makes deferred changes sendable again.
    mutating func sendEverythingAgain() {
        isOverQuota = false
        guard !deferred.isEmpty else { return }
        deferred = RecordQueue()
        actions.append(.cancelTimer(.itemRetry))
    }

    func isWaiting(_ lane: Lane) -> Bool {
        if let retryAt = lane.retryAt { retryAt > now.monotonic } else { false }
    }

    /// Makes a lane wait before its next attempt: longer after every failure, and at least as long as the
    /// server orders.
    mutating func backOff(
        _ lane: WritableKeyPath<SyncStateMachine, Lane>,
        _ timer: SyncTimer,
        after error: CloudError?
    ) {
        if let error {
            self[keyPath: lane].failure = error
            heed(error)
        }
        let until = nextTry(in: lane)
        self[keyPath: lane].retryAt = until
        actions.append(.setTimer(timer, at: until))
    }

    /// The time of a lane's next attempt after another failure.
    mutating func nextTry(in lane: WritableKeyPath<SyncStateMachine, Lane>) -> Duration {
        var backoff = self[keyPath: lane].backoff
        let wait = backoff.next(using: &random)
        self[keyPath: lane].backoff = backoff
        return max(now.monotonic + wait, serverWait ?? .zero)
    }

    /// Starts the wait that the server orders with an error, if it orders one.
    mutating func heed(_ error: CloudError) {
        if let ordered = error.retryAfter { waitAsOrdered(Backoff.clamped(ordered)) }
    }

    /// Allows no request before the server's wait is over, not even after a restart.
    private mutating func waitAsOrdered(_ wait: Duration) {
        let until = now.monotonic + wait
        if let serverWait, serverWait >= until { return }
        serverWait = until
        actions.append(.setTimer(.serverWait, at: until))
        append([.serverWait(until: wallDate(at: until))])
        emit(.waiting(until: wallDate(at: until)))
    }

    func wallDate(at instant: Duration) -> Date {
        let left = instant - now.monotonic
        let seconds = Double(left.components.seconds) + Double(left.components.attoseconds) / 1e18
        return now.wall.addingTimeInterval(seconds)
    }

    mutating func takeTimer(_ timer: SyncTimer) {
        switch timer {
        case .sendRetry:
            sending.retryAt = nil
            isOverQuota = false
        case .itemRetry: deferred = RecordQueue()
        // `wantsFetch` is still set from the failure; setting it here could cause a second fetch.
        case .fetchRetry: fetching.retryAt = nil
        case .setupRetry:
            setup.retryAt = nil
            if case .unavailable = account { account = .unknown }
        case .lookUpRetry: lookingUp.retryAt = nil
        case .resolveRetry: resolving.retryAt = nil
        case .deliverRetry: delivering.retryAt = nil
        case .subscriptionRetry: subscribing.retryAt = nil
        case .serverWait:
            if let serverWait, isInServerWait {
                actions.append(.setTimer(.serverWait, at: serverWait))
            } else {
                serverWait = nil
                // Deferred changes that are due at the same time are sent in the same request.
                if let deferredUntil, deferredUntil <= now.monotonic { deferred = RecordQueue() }
            }
        case .poll: wantsFetch = wantsFetch || isAutomatic
        case .slot: takeSlot()
        case .flush: flushRest()
        case .deadline(let request): takeDeadline(request)
        }
    }

    /// Treats a request without a timely response as one whose response was lost.
    private mutating func takeDeadline(_ request: RequestID) {
        let error = CloudError(.serverResponseLost, message: "The request was not answered in time.")
        if sending.request == request { return takeSent(request, .failure(error)) }
        if fetching.request == request { return takeFetched(request, .failure(error)) }
        if lookingUp.request == request { return takeLookedUp(request, .failure(error)) }
        if subscribing.request == request { return takeSubscribed(request, error) }
        // All failures of the setup are handled alike.
        takeAccount(request, .failure(error))
    }

    mutating func takeSignal(_ signal: CloudSignal) {
        switch signal {
        case .changes:
            renewStaleAccount()
            wantsFetch = wantsFetch || isAutomatic
        case .accountChanged:
            doubtAccount()
        case .reachable:
            // A request in flight may be stuck on the lost connection.
            abandonReading()
            let isOverQuota = isOverQuota
            endOwnWaits(of: Self.ownWaits.filter { $0.timer != .sendRetry || !isOverQuota })
            if !isOverQuota { sendEverythingAgain() }
            wantsFetch = wantsFetch || isAutomatic
        }
    }

    /// Handles errors that affect the whole engine; returns whether the error is one, so that the lane need
    /// not retry.
    mutating func meetsWholeEngine(_ error: CloudError) -> Bool {
        switch error.recovery {
        case .waitForAccount:
            loseAccount(error)
            return true
        case .stop:
            fault = error
            return true
        case .recreateZone, .askUser, .uploadEverything:
            examineZone(after: error)
            return true
        default:
            return false
        }
    }

    /// Fails the callers that wait for a part of the work, or all callers if no part is given.
    mutating func failWaiters(_ error: CloudError, of part: SyncParts? = nil) {
        failWaiters(.cloud(error), of: part)
    }

    mutating func failWaiters(_ error: SyncError, of part: SyncParts? = nil) {
        for index in waiters.indices where waiters[index].failure == nil {
            guard part.map({ waiters[index].isWaiting(for: $0) }) ?? true else { continue }
            waiters[index].failure = error
        }
    }
}
