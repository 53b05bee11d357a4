import RecordCoding

/// What the app asks for.
extension SyncStateMachine {
    mutating func takeStart() {
        isStopped = false
        guard !isStarted else { return }
        isStarted = true
        endOwnWaits()
        if let serverWait, isInServerWait { actions.append(.setTimer(.serverWait, at: serverWait)) }
        if configuration.automaticallySyncs { wantsFetch = true }
    }

    mutating func takeStop() {
        isStarted = false
        isStopped = true
        wantsFetch = false
        for waiter in waiters { actions.append(.answer(waiter.call, .failed(.stopped))) }
        waiters = []
        for timer in [SyncTimer.sendRetry, .fetchRetry, .setupRetry, .lookUpRetry, .resolveRetry, .poll] {
            actions.append(.cancelTimer(timer))
        }
    }

    mutating func takeEnqueue(_ call: CallID, _ changes: [NewChange]) {
        var entries: [JournalEntry] = []
        entries.reserveCapacity(changes.count)
        if changes.first?.isInitial == true {
            if state.summary.hasInitialModels {
                actions.append(.answer(call, .done))
                return
            }
            entries.append(.initialModelsQueued)
        }
        let state = stateToCome(for: changes)
        for change in changes {
            // What the user did since is newer than what the app had before.
            if change.isInitial, state[change.name]?.pending != nil { continue }
            let base = change.isInitial ? nil : baseForNewEdit(of: change.name, state[change.name])
            let pending = LocalChange(kind: change.kind, edited: change.edited, base: base)
            entries.append(.queued(name: change.name, pending))
            deferred.remove(change.name)
            unknownErrors[change.name] = nil
            if change.kind == .delete { reads[change.name] = nil }
        }
        if entries.isEmpty {
            actions.append(.answer(call, .done))
        } else {
            append(entries, then: .answer(call))
        }
    }

    mutating func takeSync(_ call: CallID, _ parts: SyncParts) {
        if let error = whyNothingCanBeTried() {
            actions.append(.answer(call, .failed(error)))
            return
        }
        endOwnWaits()
        renewStaleAccount()
        wait(call, for: parts)
    }

    mutating func wait(_ call: CallID, for parts: SyncParts) {
        var waiter = Waiter(
            call: call,
            parts: parts,
            fetchRun: nil,
            wantsSend: parts.contains(.send),
            before: totals
        )
        if parts.contains(.fetch) {
            waiter.fetchRun = fetchRuns + 1
            wantsFetch = true
        }
        waiters.append(waiter)
        passEnd = max(passEnd, state.sendQueue.endPosition)
    }

    /// A caller who asks ends the engine's own waits, never the server's.
    private mutating func endOwnWaits() {
        for lane in [\SyncStateMachine.setup, \.fetching, \.sending, \.lookingUp, \.resolving] {
            self[keyPath: lane].retryAt = nil
        }
        if case .unavailable = account { account = .unknown }
        fault = nil
        isOverQuota = false
        deferred = RecordQueue()
    }

    /// Errors that a caller gets at once.
    private func whyNothingCanBeTried() -> SyncError? {
        if isStopped { return .stopped }
        if state.summary.zone == .purged { return .waitingForDecision }
        if let serverWait, serverWait > now.monotonic {
            return .waiting(until: wallDate(at: serverWait))
        }
        return nil
    }

    mutating func takeRetry(_ call: CallID, _ names: [String]) {
        let parked = names.filter { state[$0]?.pending?.parked != nil }
        for name in parked {
            deferred.remove(name)
            unknownErrors[name] = nil
            conflictRounds[name] = nil
        }
        answer(call, afterStoring: parked.map { .retried(name: $0) })
    }

    mutating func takeDiscard(_ call: CallID, _ names: [String]) {
        var entries: [JournalEntry] = []
        for name in names {
            guard let pending = state[name]?.pending, inFlightNames[name] == nil else { continue }
            entries.append(.discarded(name: name))
            if let handle = pending.handle {
                actions.append(.emitLoading(.discarded(name: name, handle, .discarded)))
            }
            entries.append(note(.discarded, name, "The app gave the change up."))
        }
        answer(call, afterStoring: entries)
    }

    mutating func takeResync(_ call: CallID) {
        wantsFetch = true
        // A page from the former position would pass for the whole listing.
        abandonRequest(in: \.fetching)
        append([.listingBegan], then: .resync(call))
    }

    mutating func takeResolvePurge(_ call: CallID, uploadAgain: Bool) {
        guard state.summary.zone == .purged else {
            actions.append(.answer(call, .done))
            return
        }
        wantsFetch = true
        forgetVersionsHandedOut()
        answer(call, afterStoring: [.purgeResolved(uploadAgain: uploadAgain)])
    }

    /// The version that an edit of the app is made on: the newest that it has seen, by reading or from a stream.
    private func baseForNewEdit(of name: String, _ record: RecordState?) -> ContentHandle? {
        guard let record else { return nil }
        guard let read = reads[name] else { return record.seen }
        // Handles grow: the newer version has the greater one.
        return record.seen.map { max($0, read) } ?? read
    }

    /// The records of a call as they will be when it is stored: behind everything that is on its way to the disk.
    ///
    /// A new edit is based on what its user will then have seen; of the rest of the state nothing is right in it.
    private func stateToCome(for changes: [NewChange]) -> SyncState {
        guard uncommitted.contains(where: { $0.movesBases }) else { return state }
        var coming = SyncState()
        for change in changes {
            guard let record = state[change.name] else { continue }
            coming.change(change.name) { $0 = record }
        }
        for batch in uncommitted {
            for entry in batch.entries { coming.apply(entry) }
        }
        return coming
    }

    /// What the app has read it has seen; what is on its way to the disk it has not.
    mutating func takeRead(_ name: String) {
        guard let record = state[name], state.shownHandle(of: name) != nil else { return }
        reads[name] = record.isPendingOnTop ? record.pending?.base : record.known?.handle
    }

    /// What the app has read stays the ancestor of its next edit, although a newer version comes now.
    func readBefore(_ name: String) -> [JournalEntry] {
        guard let record = state[name], let read = reads[name], record.seen.map({ $0 < read }) ?? true else {
            return []
        }
        // No delivery has the order 0: what is to be delivered stays so.
        return [.accepted([AcceptedChange(name: name, order: 0, seen: read)])]
    }

    /// What the app has taken from a stream counts for more than what it has read before.
    mutating func forgetReads(before changes: [AcceptedChange]) {
        for change in changes where change.order != 0 {
            guard let read = reads[change.name] else { continue }
            if change.seen.map({ read <= $0 }) ?? true { reads[change.name] = nil }
        }
    }

    private mutating func answer(_ call: CallID, afterStoring entries: [JournalEntry]) {
        if entries.isEmpty {
            actions.append(.answer(call, .done))
        } else {
            append(entries, then: .answer(call))
        }
    }

    func note(_ kind: SyncNote.Kind, _ name: String?, _ message: String) -> JournalEntry {
        .note(SyncNote(kind: kind, date: now.wall, recordName: name, message: message))
    }

}
