import Foundation

@testable import CodableSync

/// What a machine waits for; it asks the engine only for the first of these instants.
enum MachineTimer: Hashable {
    case accountRetry, zoneRetry, subscriptionRetry, fetchRetry, lookUpRetry, sendRetry, resolveRetry
    case deliverRetry, storeAgain, itemRetry, sendDelay, serverWait, poll, subscriptionCheck, slot, flush
    case deadline(RequestID)
}

extension SyncStateMachine {
    /// The instants at which the machine has something to do, by what it then does.
    var timers: [MachineTimer: Duration] {
        var timers: [MachineTimer: Duration] = [:]
        timers[.deliverRetry] = context.waits[.delivering].until
        timers[.storeAgain] = delivering.storeAgainAt
        timers[.slot] = slot.demand?.end
        timers[.flush] = context.flushAt
        for subject in Subject.allCases {
            guard let request = context.requests[subject] else { continue }
            timers[.deadline(request.id)] = request.deadline
        }
        if calls.isStopped { return timers }
        timers[.accountRetry] = context.waits[.account].until
        timers[.zoneRetry] = context.waits[.zone].until
        timers[.subscriptionRetry] = context.waits[.subscription].until
        timers[.fetchRetry] = context.waits[.fetching].until
        timers[.lookUpRetry] = context.waits[.lookingUp].until
        timers[.sendRetry] = context.waits[.sending].until
        timers[.resolveRetry] = context.waits[.resolving].until
        timers[.itemRetry] = deferred.until
        timers[.sendDelay] = sendDelay.until
        timers[.serverWait] = context.serverWait.until
        timers[.poll] = fetching.pollAt
        timers[.subscriptionCheck] = subscription.checkAt(context)
        return timers
    }

    /// The requests that the machine has made and whose responses it would take.
    var requestsInFlight: [RequestID] {
        Subject.allCases.compactMap { context.requests[$0] }.filter { $0.deadline != nil }.map(\.id)
    }
}

/// The time.
extension MachineHarness {
    var timers: [MachineTimer: Duration] { machine.timers }

    mutating func advance(by duration: Duration) {
        now.monotonic += duration
        now.wall = now.wall.addingTimeInterval(Double(duration.components.seconds))
    }

    mutating func advance(to instant: Duration) {
        if instant > now.monotonic { advance(by: instant - now.monotonic) }
        now.monotonic = max(now.monotonic, instant)
    }

    /// Lets the time pass until the next instant of these; what is due before happens then, too.
    @discardableResult
    mutating func fireNext(
        where isWanted: (MachineTimer) -> Bool = { ![.flush, .subscriptionCheck].contains($0) }
    ) -> [SyncAction] {
        guard let due = timers.filter({ isWanted($0.key) }).map(\.value).min() else { return [] }
        advance(to: due)
        return run(.timePassed)
    }

    /// Lets the time pass until a request counts as lost.
    @discardableResult
    mutating func missDeadline(_ id: RequestID) -> [SyncAction] {
        guard let due = timers[.deadline(id)] else { return [] }
        advance(to: due)
        return run(.timePassed)
    }

    /// Lets the time pass as the engine does, as far as the machine has asked for it.
    @discardableResult
    mutating func sleep() -> [SyncAction] {
        guard let wakeAt else { return [] }
        advance(to: wakeAt)
        return run(.timePassed)
    }

    /// Checks that the machine has asked for the first instant at which it has something to do.
    mutating func checkTime() {
        let first = timers.values.min()
        if wakeAt != first { faults.append("the machine wakes at \(wakeAt as Any), not at \(first as Any)") }
    }
}
