import RecordCoding

import struct Foundation.Date

/// Requests, their deadlines, and what happens when they fail.
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

    /// Whether this answers the lane's request; late answers are not listened to.
    mutating func isAnswer(_ request: RequestID, in lane: WritableKeyPath<SyncStateMachine, Lane>) -> Bool {
        guard self[keyPath: lane].request == request else { return false }
        self[keyPath: lane].request = nil
        actions.append(.cancelTimer(.deadline(request)))
        endDemand(for: request)
        return true
    }

    /// Whatever the answer will be, it comes too late.
    mutating func abandonRequest(in lane: WritableKeyPath<SyncStateMachine, Lane>) {
        guard let request = self[keyPath: lane].request else { return }
        self[keyPath: lane].request = nil
        actions.append(.cancelTimer(.deadline(request)))
        endDemand(for: request)
    }

    /// Takes the answers to requests for records for lost ones.
    mutating func abandonRequestsForRecords() {
        for lane in [\SyncStateMachine.fetching, \.sending, \.lookingUp] { abandonRequest(in: lane) }
        if !sending.isStoring { clearInFlight() }
        if !lookingUp.isStoring { beingLookedUp = [] }
    }

    /// A lane that waits after failures, and the timer that ends its wait.
    typealias OwnWait = (lane: WritableKeyPath<SyncStateMachine, Lane>, timer: SyncTimer)

    /// The engine's own waits, which a caller may end; never the server's.
    static var ownWaits: [OwnWait] {
        [
            (\.setup, .setupRetry), (\.subscribing, .subscriptionRetry), (\.fetching, .fetchRetry),
            (\.lookingUp, .lookUpRetry), (\.resolving, .resolveRetry), (\.sending, .sendRetry),
        ]
    }

    /// The waits that stand between a caller and what it asks for.
    static func ownWaits(for parts: SyncParts) -> [OwnWait] {
        ownWaits.filter { wait in
            switch wait.timer {
            case .fetchRetry: parts.contains(.fetch)
            case .sendRetry: parts.contains(.send)
            // Sync works without.
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

    /// Whatever was put off is sent with the others.
    mutating func sendEverythingAgain() {
        isOverQuota = false
        guard !deferred.isEmpty else { return }
        deferred = RecordQueue()
        actions.append(.cancelTimer(.itemRetry))
    }

    func isWaiting(_ lane: Lane) -> Bool {
        if let retryAt = lane.retryAt { retryAt > now.monotonic } else { false }
    }

    /// Waits before the lane's next try: as the server says, or longer with every failure.
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

    /// When to try once more, after one more failure of the lane.
    mutating func nextTry(in lane: WritableKeyPath<SyncStateMachine, Lane>) -> Duration {
        var backoff = self[keyPath: lane].backoff
        let wait = backoff.next(using: &random)
        self[keyPath: lane].backoff = backoff
        return max(now.monotonic + wait, serverWait ?? .zero)
    }

    /// Whatever went wrong: if the server says when to come back, nobody comes earlier.
    mutating func heed(_ error: CloudError) {
        if let ordered = error.retryAfter { waitAsOrdered(Backoff.clamped(ordered)) }
    }

    /// No request before the server's wait is over, also after a restart.
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
        // The failure has left the wish to fetch; asking anew would be one fetch more where the retry has begun
        // already.
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
                // What waited for the same moment goes with the rest, in one request.
                if let deferredUntil, deferredUntil <= now.monotonic { deferred = RecordQueue() }
            }
        case .poll: wantsFetch = wantsFetch || isAutomatic
        case .slot: takeSlot()
        case .flush: flushRest()
        case .deadline(let request): takeDeadline(request)
        }
    }

    /// A request that is not answered in time is one whose response was lost.
    private mutating func takeDeadline(_ request: RequestID) {
        let error = CloudError(.serverResponseLost, message: "The request was not answered in time.")
        if sending.request == request { return takeSent(request, .failure(error)) }
        if fetching.request == request { return takeFetched(request, .failure(error)) }
        if lookingUp.request == request { return takeLookedUp(request, .failure(error)) }
        if subscribing.request == request { return takeSubscribed(request, error) }
        // Every failure of the setup is handled alike.
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
            // A request under way may be stuck on the connection that was lost.
            abandonReading()
            let isOverQuota = isOverQuota
            endOwnWaits(of: Self.ownWaits.filter { $0.timer != .sendRetry || !isOverQuota })
            if !isOverQuota { sendEverythingAgain() }
            wantsFetch = wantsFetch || isAutomatic
        }
    }

    /// What a failed request means for the whole engine; `true` if the lane's own retry would be in vain.
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

    /// Fails the callers that wait for a part of the work; without one, all of them.
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
