import RecordCoding

/// The app's calls.
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
        // Other devices' changes are fetched before queued changes are sent.
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
        // The upload may be based on changes whose acceptance is not stored yet.
        acceptAgain()
        var entries: [JournalEntry] = []
        entries.reserveCapacity(changes.count)
        if changes.first?.isInitial == true {
            if state.summary.hasInitialModels { return answer(call) }
            entries.append(.initialModelsQueued)
        }
        for change in changes {
            // A change that the user has made since is newer than the initial model.
            if change.isInitial, state[change.name]?.pending != nil { continue }
            if change.isSeenOnly, case .save(let handle, _) = change.kind {
                entries.append(.accepted([AcceptedChange(name: change.name, seen: handle, kind: .copy)]))
                continue
            }
            if let basis = change.basis {
                let edit = LocalChange(
                    kind: change.kind,
                    edited: change.edited,
                    base: basis.handle,
                    contested: basis.contested
                )
                entries.append(.edited(name: change.name, edit, copy: basis.copy, given: basis.given))
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
        // The caller may be another user than the one who must decide; signals request nothing in the
        // meantime.
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

    /// Drops known failures, since a user who starts a sync may have fixed their cause.
    private mutating func tryEverythingAgain() {
        if case .unavailable = account { account = .unknown }
        // Otherwise the caller would get the error of an earlier attempt.
        if !isSwitching { switchFailure = nil }
        fault = nil
    }

    /// The error that a push cannot fix: a missing account or a configuration error.
    private func whyAHintIsInVain() -> CloudError? {
        if let fault { return fault }
        if case .unavailable(let status) = account { return Self.error(for: status) }
        return nil
    }

    /// The error that a call gets at once, without any attempt.
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
            conflictRounds[name] = nil
            entries.append(.discarded(name: name))
            entries.append(note(.discarded, name, "The app gave the change up."))
        }
        answer(call, afterStoring: entries)
    }

    /// The event about the edit that an entry discards or replaces, and the edit's contents.
    func eventOfReplaced(_ entry: JournalEntry) -> (event: ContentsEvent, contents: ContentHandle)? {
        switch entry {
        case .discarded(let name):
            state[name]?.pending?.handle.map { (.discarded(name: name, $0, .discarded), $0) }
        case .queued(let name, let change):
            change.isDeletion
                ? nil
                : state[name]?.replaced(byEdit: false).map { (.discarded(name: name, $0, .replaced), $0) }
        case .edited(let name, _, _, _):
            state[name]?.replaced(byEdit: true).map { (.discarded(name: name, $0, .replaced), $0) }
        default: nil
        }
    }

    /// Notes that a change replaces an edit that was parked by a conflict.
    ///
    /// Reads do not show such an edit, so the new change does not include it.
    private func noteReplaced(_ change: NewChange, _ record: RecordState?) -> [JournalEntry] {
        guard change.kind != .delete, record?.replaced(byEdit: change.basis != nil) != nil else { return [] }
        let message = "A newer edit replaced one that was set aside."
        return [note(.discarded, change.name, message)]
    }

    mutating func takeResync(_ call: CallID) {
        wantsFetch = true
        // A page requested from the old position would be taken for the whole listing.
        abandonRequest(in: \.fetching)
        // The feed is read from its beginning, so tokens that were seen before are expected again.
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
                let shown = isKnown ? record.known?.handle ?? handle : handle
                let version = isKnown ? shown : contents.version
                // An edit on top of what the app has seen is newer than that, even if the edit has been
                // replaced since.
                let wasOnTop = contents.known != nil && contents.known == record.seen
                var after = record
                after.give(shown, of: version)
                guard after != record, wasOnTop || record.newer(record.seen, shown) == shown else {
                    continue
                }
                seen.append(AcceptedChange(name: contents.name, seen: shown, of: version, kind: .read))
            } else if record.pending == nil, record.known == nil, record.seen != nil {
                // The read showed the app that the record was deleted, so a later upload is based on the
                // deletion.
                seen.append(AcceptedChange(name: contents.name, seen: nil, kind: .read))
            }
        }
        if !seen.isEmpty { append([.accepted(seen)], flush: false) }
    }

    /// Reports versions that a read could not decode, and marks them as not seen.
    ///
    /// An earlier version of the app may have accepted such a version. This one cannot show it, so an upload
    /// under that name is not an edit of it.
    mutating func takeReadInVain(_ versions: [ReadVersion]) {
        var unseen: [AcceptedChange] = []
        var entries: [JournalEntry] = []
        for version in versions {
            reportUndecodable(version)
            if version.isLost { entries += lookUpLost(version) }
            // If only the stored copy is unreadable, the app still has what it received.
            guard !version.isLost, state[version.name]?.seen == version.handle else { continue }
            unseen.append(AcceptedChange(name: version.name, seen: nil, kind: .read))
        }
        if !unseen.isEmpty { entries.append(.accepted(unseen)) }
        if !entries.isEmpty { append(entries, flush: false) }
    }

    func note(_ kind: SyncNote.Kind, _ name: String?, _ message: String) -> JournalEntry {
        .note(SyncNote(kind: kind, date: now.wall, recordName: name, message: message))
    }
}

extension JournalEntry {
    /// The record whose version was fetched.
    var fetchedName: String? { if case .fetched(let name, _) = self { name } else { nil } }

    /// Whether the entry removes known versions of records that it does not name.
    var takesVersionsAway: Bool {
        switch self {
        case .zoneLost, .purgeResolved, .signedOut(removing: true): true
        default: false
        }
    }
}

extension RecordState {
    /// Sets the base of an upload or a deletion of the whole record to what the app saw last.
    fileprivate func give(baseTo change: inout LocalChange) {
        change.base = seen
        guard let pending, pending.parked == nil || isPendingSeen else { return }
        if pending.isDeletion || isPendingSeen {
            // The change replaces a pending deletion, or an edit that the app has seen: it has the same base.
            change.base = pending.base
            if !change.isDeletion { change.contested = pending.contested }
        } else if change.isDeletion {
            // The app has not seen the edit, so it deletes the version that it has, or the base of the edit if
            // that is older. Its own copy is newer than that version, but is none of the cloud's.
            let version = copy == known?.handle ? copy : given
            change.base = pending.base.flatMap { base in version.map { min(base, $0) } }
        }
    }

    /// The parked edit that a new edit or upload replaces without including it, since reads show the cloud's
    /// version instead.
    ///
    /// An upload includes a refused edit that the app has seen.
    fileprivate func replaced(byEdit isEdit: Bool) -> ContentHandle? {
        guard let pending, let reason = pending.parked, !isPendingOnTop else { return nil }
        return reason.isConflict || isEdit || !isPendingSeen ? pending.handle : nil
    }
}
