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
        // What others did meanwhile is seen before what waited is sent.
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
        }
        if entries.isEmpty {
            actions.append(.answer(call, .done))
        } else {
            append(entries, then: .answer(call))
        }
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
        // Decided already: what is left of it to give up is known once the decision is stored.
        if names.contains(where: { reconciling[$0] == .decided }) {
            let discard = PostponedDiscard(call: call, names: names, after: lastNumber)
            return postponedDiscards.append(discard)
        }
        var entries: [JournalEntry] = []
        for name in names {
            guard state[name]?.pending != nil, inFlightNames[name] == nil else { continue }
            discarding[name] = true
            entries.append(.discarded(name: name))
            entries.append(note(.discarded, name, "The app gave the change up."))
        }
        answer(call, afterStoring: entries)
    }

    /// What is given up is told of when it is: nothing can be decided about it in between.
    mutating func tellOfDiscarded(_ entry: JournalEntry) {
        guard case .discarded(let name) = entry else { return }
        discarding[name] = nil
        guard let handle = state[name]?.pending?.handle else { return }
        actions.append(.emitLoading(.discarded(name: name, handle, .discarded)))
    }

    mutating func takePostponedDiscards() {
        let postponed = postponedDiscards
        postponedDiscards = []
        for discard in postponed {
            // What was called for since is the last word on its record.
            var changed = RecordTable<Bool>()
            for batch in uncommitted where batch.batch > discard.after {
                for case .queued(let name, _) in batch.entries { changed[name] = true }
            }
            takeDiscard(discard.call, discard.names.filter { changed[$0] == nil })
        }
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
        guard state.summary.zone == .purged else {
            actions.append(.answer(call, .done))
            return
        }
        wantsFetch = true
        forgetVersionsHandedOut()
        answer(call, afterStoring: [.purgeResolved(uploadAgain: uploadAgain)])
    }

    /// The version that an edit of the app is made on: the newest that it has seen, by reading or from a stream.
    private mutating func baseForNewEdit(of name: String, _ record: RecordState?) -> ContentHandle? {
        guard let record else { return nil }
        // Uploaded again before the deletion is sent: made on the version that was to be deleted.
        if let pending = record.pending, pending.isDeletion, pending.parked == nil { return pending.base }
        return record.newer(record.seen, versionRead(of: name))
    }

    /// The records of a call as they will be when it is stored.
    ///
    /// A new edit is based on what its user will then have seen; of the rest of the state nothing is right in it.
    private mutating func stateToCome(for changes: [NewChange]) -> SyncState {
        let isInitial = changes.first?.isInitial == true
        guard uncommitted.baseMoverCount > 0 || (isInitial && !uncommitted.isEmpty) else { return state }
        return stateToCome(of: changes.map(\.name))
    }

    /// These records as they will be behind everything that is on its way to the disk.
    mutating func stateToCome(of names: [String]) -> SyncState {
        let entries = uncommitted.entries(about: names)
        if entries.isEmpty { return state }
        var coming = SyncState()
        coming.changeSummary { $0 = state.summary }
        for name in names {
            guard let record = state[name] else { continue }
            coming.change(name) { $0 = record }
        }
        for entry in entries { coming.apply(entry) }
        return coming
    }

    /// What the app has read it has seen; what is on its way to the disk it has not.
    mutating func takeRead(_ names: [String]) {
        // What is being taken away is nobody's ancestor.
        if uncommitted.baseMoverCount > 0, uncommitted.contains(where: \.takesVersionsAway) { return }
        var missed: [AcceptedChange] = []
        for name in names {
            // What was lost is nobody's ancestor.
            guard let record = state[name], record.lost == nil else { continue }
            if state.shownHandle(of: name) != nil {
                reads[name] = record.isPendingOnTop ? record.pending?.base : record.known?.handle
                readEdits[name] = record.isPendingOnTop ? record.pending?.handle : nil
            } else if record.pending == nil {
                // Looked for and not found: whoever uploads it now knows that it was deleted.
                reads[name] = nil
                readEdits[name] = nil
                if record.seen != nil { missed.append(AcceptedChange(name: name, order: 0, seen: nil)) }
            }
        }
        if !missed.isEmpty { append([.accepted(missed)], flush: false) }
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
            guard state[version.name]?.seen == version.handle else { continue }
            unseen.append(AcceptedChange(name: version.name, order: 0, seen: nil))
        }
        if !unseen.isEmpty { entries.append(.accepted(unseen)) }
        if !entries.isEmpty { append(entries, flush: false) }
    }

    /// The version that the app has read last; for an unconfirmed edit, the version that it was made on.
    mutating func versionRead(of name: String) -> ContentHandle? {
        var read = reads[name]
        for entry in uncommitted.entries(about: [name]) {
            if let edit = readEdits[name], let version = entry.version(confirming: edit) { return version }
            if case .fetched(_, let version) = entry, let known = state[name]?.known, known.handle == read,
                known.isSameVersion(as: version), state[name]?.isUnread == true
            {
                read = version.handle
            }
        }
        return read
    }

    /// Notes that an edit that the app has read is confirmed.
    mutating func noteConfirmedRead(_ entry: JournalEntry) {
        guard let name = entry.confirmedName, let edit = readEdits[name],
            let version = entry.version(confirming: edit)
        else { return }
        reads[name] = version
        readEdits[name] = nil
    }

    /// Keeps what the app has read as the ancestor of its next edit, although a newer version comes now.
    mutating func readBefore(_ name: String) -> [JournalEntry] {
        // A fact on its way to the disk, such as a confirmed upload, may have been seen later.
        guard let read = versionRead(of: name), let record = stateToCome(of: [name])[name],
            read != record.seen, record.newer(record.seen, read) == read
        else { return [] }
        // No delivery has the order 0: what is to be delivered stays so.
        return [.accepted([AcceptedChange(name: name, order: 0, seen: read)])]
    }

    /// What the app has taken from a stream counts for more than what it has read before.
    ///
    /// What was accepted although no loop has taken it counts for nothing: the app may have read it meanwhile.
    mutating func forgetReads(before entries: [JournalEntry]) {
        let changes = entries.flatMap { entry -> [AcceptedChange] in
            if case .accepted(let changes) = entry { changes } else { [] }
        }
        var unseen = RecordTable<Bool>()
        for change in changes where change.order == 0 { unseen[change.name] = true }
        for change in changes where unseen[change.name] == nil {
            guard let read = reads[change.name] else { continue }
            guard let seen = change.seen else {
                reads[change.name] = nil
                continue
            }
            let newer = state[change.name].map { $0.newer(seen, read) } ?? max(seen, read)
            if newer == seen { reads[change.name] = nil }
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

extension JournalEntry {
    /// The record of which a version was fetched.
    var fetchedName: String? { if case .fetched(let name, _) = self { name } else { nil } }

    /// The record of which an edit is confirmed.
    fileprivate var confirmedName: String? {
        switch self {
        case .saved(let name, _, _), .resolved(let name, _, _, .confirmed): name
        default: nil
        }
    }

    /// The version that an edit has become.
    fileprivate func version(confirming edit: ContentHandle) -> ContentHandle? {
        switch self {
        case .saved(_, edit, let version): version.handle
        case .resolved(_, _, let server, .confirmed(edit)): server
        default: nil
        }
    }
}
