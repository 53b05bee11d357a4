import RecordCoding

/// What the app asks for.
extension SyncStateMachine {
    mutating func takeStart() {
        isStopped = false
        guard !isStarted else { return }
        isStarted = true
        endOwnWaits(of: Self.ownWaits)
        sendEverythingAgain()
        tryEverythingAgain()
        if let serverWait, isInServerWait { actions.append(.setTimer(.serverWait, at: serverWait)) }
        guard configuration.automaticallySyncs else { return }
        wantsFetch = true
        // Other devices' changes are fetched before what waited is sent.
        isSendsTurn = false
    }

    mutating func takeStop() {
        isStarted = false
        isStopped = true
        wantsFetch = false
        for waiter in waiters { actions.append(.answer(waiter.call, .failed(.stopped))) }
        waiters = []
        for wait in Self.ownWaits { actions.append(.cancelTimer(wait.timer)) }
        for timer in [SyncTimer.itemRetry, .poll] { actions.append(.cancelTimer(timer)) }
        if let demandedSlot { endDemand(for: demandedSlot) }
    }

    mutating func takeEnqueue(_ call: CallID, _ changes: [NewChange]) {
        // The upload may be based on them.
        acceptAgain()
        var entries: [JournalEntry] = []
        entries.reserveCapacity(changes.count)
        if changes.first?.isInitial == true {
            if state.summary.hasInitialModels { return answer(call) }
            entries.append(.initialModelsQueued)
        }
        for change in changes {
            // What the user did since is newer than what the app had before.
            if change.isInitial, state[change.name]?.pending != nil { continue }
            if let basis = change.basis {
                let edit = LocalChange(
                    kind: change.kind,
                    edited: change.edited,
                    base: basis.handle,
                    contested: basis.contested
                )
                entries.append(.edited(name: change.name, edit))
            } else {
                var pending = LocalChange(kind: change.kind, edited: change.edited, base: nil)
                if !change.isInitial { state[change.name]?.give(baseTo: &pending) }
                entries.append(.queued(name: change.name, pending))
            }
            entries += noteReplaced(change, state[change.name])
            deferred.remove(change.name)
            unknownErrors[change.name] = nil
        }
        answer(call, afterStoring: entries)
    }

    mutating func takeSync(_ call: CallID, _ parts: SyncParts) {
        renewStaleAccount()
        // Who asks may be another user than the one who is to decide; signals ask for nothing meanwhile.
        if isDecisionAwaited { renewAccount(after: Self.accountValidity) }
        if let error = whyNothingCanBeTried() {
            actions.append(.answer(call, .failed(error)))
            return
        }
        if parts.contains(.hint) {
            if let error = whyAHintIsInVain() {
                actions.append(.answer(call, .failed(.cloud(error))))
                return
            }
        } else {
            tryEverythingAgain()
        }
        endOwnWaits(of: Self.ownWaits(for: parts))
        if parts.contains(.send) { sendEverythingAgain() }
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

    /// A person who asks may have mended what stood in the way.
    private mutating func tryEverythingAgain() {
        if case .unavailable = account { account = .unknown }
        // Otherwise whoever asks is told of a former try.
        if !isSwitching { switchFailure = nil }
        fault = nil
    }

    /// A push does not bring an account back, or mend the configuration.
    private func whyAHintIsInVain() -> CloudError? {
        if let fault { return fault }
        if case .unavailable(let status) = account { return Self.error(for: status) }
        return nil
    }

    /// Errors that a caller gets at once.
    private func whyNothingCanBeTried() -> SyncError? {
        if isStopped { return .stopped }
        if isDecisionAwaited { return .waitingForDecision(.purged) }
        if let serverWaitEnd { return .waiting(until: serverWaitEnd) }
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
            guard state[name]?.pending != nil, inFlightNames[name] == nil else { continue }
            entries.append(.discarded(name: name))
            entries.append(note(.discarded, name, "The app gave the change up."))
        }
        answer(call, afterStoring: entries)
    }

    /// The event about the edit that an entry gives up.
    func eventOfReplaced(_ entry: JournalEntry) -> ContentsEvent? {
        switch entry {
        case .discarded(let name):
            state[name]?.pending?.handle.map { .discarded(name: name, $0, .discarded) }
        case .queued(let name, let change), .edited(let name, let change):
            change.isDeletion
                ? nil : state[name]?.replaceable.map { .discarded(name: name, $0, .replaced) }
        default: nil
        }
    }

    /// Notes that a change replaces an edit that a conflict set aside: reads do not show that edit, so no later edit
    /// includes it.
    private func noteReplaced(_ change: NewChange, _ record: RecordState?) -> [JournalEntry] {
        guard record?.replaceable != nil, change.kind != .delete else { return [] }
        let message = "A newer edit replaced one that was set aside."
        return [note(.discarded, change.name, message)]
    }

    mutating func takeResync(_ call: CallID) {
        wantsFetch = true
        // A page from the former position would pass for the whole listing.
        abandonRequest(in: \.fetching)
        // The feed is read from its beginning: what was passed already is passed once more.
        paging = PagingWatch()
        append([.listingBegan], then: .resync(call))
    }

    mutating func takeResolvePurge(_ call: CallID, uploadAgain: Bool) {
        guard state.summary.zone == .purged else { return answer(call) }
        wantsFetch = true
        forgetVersionsHandedOut()
        append([.purgeResolved(uploadAgain: uploadAgain)], then: .purgeResolved(call))
    }

    /// Marks what a read returned as seen, unless the app has seen newer contents since.
    mutating func takeRead(_ given: [GivenContents]) {
        var seen: [AcceptedChange] = []
        for contents in given {
            // A lost version cannot be an ancestor.
            guard let record = state[contents.name], record.lost == nil else { continue }
            if let handle = contents.handle {
                let isKnown =
                    record.known?.changeTag == contents.changeTag && contents.changeTag?.isEmpty == false
                let handle = isKnown ? record.known?.handle ?? handle : handle
                // An edit on top of what the app had seen is newer than that, even if it has been replaced by now.
                let wasOnTop = contents.known != nil && contents.known == record.seen
                guard handle != record.seen, wasOnTop || record.newer(record.seen, handle) == handle else {
                    continue
                }
                seen.append(AcceptedChange(name: contents.name, order: 0, seen: handle))
            } else if record.pending == nil, record.known == nil, record.seen != nil {
                // The read found nothing, so a later upload is made knowing that the record was deleted.
                seen.append(AcceptedChange(name: contents.name, order: 0, seen: nil))
            }
        }
        if !seen.isEmpty { append([.accepted(seen)], flush: false) }
    }

    /// The app was shown nothing of these: it knows of no more than before it read.
    ///
    /// A version that an older app has taken, and that this one cannot decode, it has not seen either: what it uploads
    /// under that name is no edit of it.
    mutating func takeReadInVain(_ versions: [ReadVersion]) {
        var unseen: [AcceptedChange] = []
        var entries: [JournalEntry] = []
        for version in versions {
            reportUndecodable(version)
            if version.isLost { entries += lookUpLost(version) }
            // If only the stored copy cannot be read, the app still has what it received.
            guard !version.isLost, state[version.name]?.seen == version.handle else { continue }
            unseen.append(AcceptedChange(name: version.name, order: 0, seen: nil))
        }
        if !unseen.isEmpty { entries.append(.accepted(unseen)) }
        if !entries.isEmpty { append(entries, flush: false) }
    }

    func note(_ kind: SyncNote.Kind, _ name: String?, _ message: String) -> JournalEntry {
        .note(SyncNote(kind: kind, date: now.wall, recordName: name, message: message))
    }
}

extension JournalEntry {
    /// The record of which a version was fetched.
    var fetchedName: String? { if case .fetched(let name, _) = self { name } else { nil } }

    /// Whether it removes the known versions of records that it does not name.
    var takesVersionsAway: Bool {
        switch self {
        case .zoneLost, .purgeResolved, .signedOut(removing: true): true
        default: false
        }
    }
}

extension RecordState {
    /// Sets the base of an upload or a deletion of the whole record: what the app saw last.
    fileprivate func give(baseTo change: inout LocalChange) {
        change.base = seen
        guard let pending, pending.parked == nil || isPendingSeen else { return }
        if pending.isDeletion || isPendingSeen {
            // An upload before the pending deletion is sent, or a change on top of the edit: based on the version below.
            change.base = pending.base
            if !change.isDeletion { change.contested = pending.contested }
        } else if change.isDeletion {
            // The app has not seen the edit: it deletes what it has seen, or the version below the edit if that is older.
            change.base = pending.base.flatMap { base in seen.map { min(base, $0) } }
        }
    }

    /// An edit that a conflict set aside: reads show the cloud's value, and a new edit replaces this one.
    fileprivate var replaceable: ContentHandle? {
        guard let pending, let reason = pending.parked, reason.isConflict else { return nil }
        return pending.handle
    }
}
