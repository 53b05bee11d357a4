import RecordCoding

/// Passing notices between rooms.
extension SyncStateMachine {
    /// Passes on a room's notices and the changes of its entries, until nothing is left.
    mutating func settle() {
        while true {
            if !context.notices.isEmpty {
                let notices = context.notices
                context.notices = []
                for notice in notices { take(notice) }
            } else if !context.state.unsendable.isEmpty {
                passOnUnsendable()
            } else if !context.state.renewed.isEmpty {
                let renewed = context.state.renewed
                context.state.renewed = []
                delivering.takeRenewed(renewed, &context)
                delivering.dropUnasked(renewed, &context)
            } else if !context.state.reshown.isEmpty {
                let reshown = context.state.reshown
                context.state.reshown = []
                delivering.takeReshown(reshown, &context)
            } else {
                return endMetDemand()
            }
        }
    }

    /// Drops records that cannot be sent from the deferred changes, and looks them up if they must be read.
    private mutating func passOnUnsendable() {
        let keys = context.state.unsendable
        context.state.unsendable = []
        for key in keys where !context.state.sendQueue.contains(key) {
            deferred.remove(key)
            sendDelay.remove(key)
            // The change may have been parked because of a look-up, which is not repeated.
            if let record = context.state[key], record.mustLookUp, record.pending?.parked == nil {
                lookingUp.append(key, &context)
            }
        }
    }

    private mutating func take(_ notice: Notice) {
        switch notice {
        case .failed(let error, let part):
            calls.fail(error, of: part)
            if part == nil { subscription.answer(.failed(error), &context) }
        case .changesQueued: calls.extendPass(context.state)
        case .unusable(let error):
            if error.recovery == .stop {
                calls.fail(with: error)
            } else {
                account.lose(after: error, &context)
            }
        case .ownerDoubted: account.renewInDoubt(context)
        case .accountConfirmed:
            if isAutomatic, !fetching.isRunning { fetching.want() }
        case .responsesDistrusted:
            account.lane.abandon()
            subscription.lane.abandon()
            abandonRequestsForRecords()
            zone.abandonResponses(&context)
        case .signedOut: delivering.takeSignedOut(context.state)
        case .zoneMissing(let error): zone.examine(after: error, &context)
        case .zoneLost:
            subscription.takeZoneLost(&context)
            abandonRequestsForRecords()
            // They would be about a zone that the state no longer knows.
            lookingUp.forgetAll()
            fetching.want()
            calls.extendPass(context.state)
        case .zoneProven:
            zone.prove()
            account.prove()
        case .released(let response):
            // Its waits began when it arrived.
            context.obeysWaits = false
            process(response)
            context.obeysWaits = true
        case .fetchWanted: if isAutomatic { fetching.want() }
        case .pageRequested: slot.isSendsTurn = true
        case .fetchEnded: takeFetchEnded()
        case .lookUp(let key): lookingUp.append(key, &context)
        case .accepted(let changes): delivering.takeAccepted(changes)
        }
    }

    private mutating func takeFetchEnded() {
        // If changes are waiting, zone and account count as found only once one is accepted.
        if context.state.sendQueue.isEmpty, lookingUp.queue.isEmpty {
            zone.prove()
            account.prove()
        }
        if calls.waiters.contains(where: { $0.fetchRun != nil }) { calls.extendPass(context.state) }
        guard isAutomatic, let interval = context.configuration.pollInterval else { return }
        fetching.poll(at: context.now.monotonic + interval)
    }
}
