import RecordCoding

/// Sending queued changes, first in, first out, one request at a time.
extension SyncStateMachine {
    /// Starts a send request if the slot is free.
    ///
    /// - Parameter isOverdue: Whether changes no longer wait for the first page.
    mutating func advanceSending(isOverdue: Bool = false) {
        guard mayBeginSending else { return }
        guard isSlotFree else { return demandSlot() }
        if isFirstPageAwaited, !isOverdue { return }
        let items = planner.plan(candidates)
        guard !items.isEmpty else { return }
        inFlight = items
        for item in items { inFlightNames[item.name] = item }
        isSendsTurn = false
        // Stored before it is sent, so that the server's copy is recognised as our own if the response is
        // lost.
        sending.isStoring = true
        let request = nextNumber()
        append(
            [.sending(items.map { SentContents(name: $0.name, handle: $0.handle) })],
            then: .send(request)
        )
    }

    private var mayBeginSending: Bool {
        guard isAutomatic || waiters.contains(where: \.wantsSend) else { return false }
        guard isReady, !isWaiting(sending), !isOverQuota else { return false }
        // Changes from calls that arrive together are sent together.
        guard uncommitted.isEmpty || isCommitting else { return false }
        return state.sendQueue.count > deferred.count && !isFirstFetchAhead
    }

    var hasSomethingToSend: Bool { candidates.contains { _ in true } }

    /// Applies to the next request; a request in flight keeps the former limits.
    mutating func takeLimits(_ limits: DatabaseLimits) {
        configuration.maximumItems = limits.maximumItems
        configuration.maximumBytes = limits.maximumBytes
        planner.take(limits)
    }

    /// The items that could be sent now, in order, with the size of each in bytes.
    private var candidates: some Sequence<(item: SendItem, size: Int)> {
        state.sendQueue.names.lazy.compactMap { name -> (item: SendItem, size: Int)? in
            guard !deferred.contains(name), !lookUps.contains(name), let record = state[name]
            else { return nil }
            if let lost = record.lost {
                return (SendItem(name: name, handle: lost.handle, known: nil), lost.size)
            }
            switch record.pending?.kind {
            case nil:
                return nil
            case .save(let handle, let size)?:
                let isBehind = record.isDeletionSent
                return (
                    SendItem(name: name, handle: handle, known: record.known, isBehindDeletion: isBehind),
                    size
                )
            case .delete?:
                return (SendItem(name: name, handle: nil, known: record.known), 0)
            }
        }
    }

    /// Sends the request, now that its contents are stored as being sent.
    mutating func leave(_ request: RequestID) {
        sending.isStoring = false
        guard isReady else { return clearInFlight() }
        sending.request = request
        actions.append(.setTimer(.deadline(request), at: now.monotonic + configuration.requestDeadline))
        emit(.sendBegan(count: inFlight.count))
        actions.append(.send(request, inFlight))
    }

    mutating func clearInFlight() {
        for item in inFlight { inFlightNames[item.name] = nil }
        inFlight = []
    }

    mutating func takeSent(_ request: RequestID, _ result: Result<[SendResult], CloudError>) {
        guard isAnswer(request, in: \.sending) else { return }
        switch result {
        case .success(let results): take(results)
        case .failure(let error): failSend(error)
        }
    }
}
