import RecordCoding

/// Passing inputs to the state machine and performing its actions.
extension SyncCore {
    nonisolated var now: Moment { clock.now }

    /// Passes an input to the machine; what follows from it happens once the turn is stored.
    ///
    /// The state changes in no other way. The function is synchronous, so nothing can run between reading and
    /// writing the state.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - contents: The contents that the input names, if they are not stored yet.
    ///   - endsTurn: Whether the turn ends with this input, rather than behind the jobs that wait already.
    func process(_ input: SyncInput, contents: [ContentHandle: Record] = [:], endsTurn: Bool = false) {
        if let limits = changedLimits { take(.limitsChanged(limits), [:]) }
        take(input, contents)
        if endsTurn { endTurn() } else { scheduleEnd() }
        if hasUnserved { serveAgain() }
        notifyWatchers()
    }

    /// The database's limits, if they differ from those that the machine uses.
    private var changedLimits: DatabaseLimits? {
        guard let known = machine?.configuration else { return nil }
        let limits = database.limits
        let isSame =
            limits.maximumItems == known.maximumItems && limits.maximumBytes == known.maximumBytes
        return isSame ? nil : limits
    }

    /// A new handle.
    func newHandle() -> ContentHandle {
        defer { nextHandle += 1 }
        return ContentHandle(nextHandle)
    }

    /// Performs the actions of a turn that is stored.
    ///
    /// - Parameters:
    ///   - actions: The actions.
    ///   - events: The contents of the events among them.
    func perform(_ actions: [SyncAction], _ events: StoredContents) {
        for action in actions { perform(action, events) }
        if case .open = phase, machine?.isForAnotherUser == false { pendingSwitch = nil }
    }

    private func perform(_ action: SyncAction, _ events: StoredContents) {
        switch action {
        case .store: break
        case .request(let request, let content): make(content, request)
        case .cancel(let request): resources.cancel(request)
        case .switchUser(let user): switchUser(to: user)
        case .reconcile(let items): reconcile(items)
        case .deliver(let stream, let items): deliver(stream, items)
        case .mark(let stream, let mark): deliver(stream, mark)
        case .wake(let instant): wake(at: instant)
        case .answer(let call, let answer): calls.removeValue(forKey: call)?.resume(returning: answer)
        case .report(let report): emit(report, events)
        }
    }

    private func make(_ content: CloudRequest, _ request: RequestID) {
        switch content {
        case .checkAccount: checkAccount(request)
        case .saveZone(let mark): saveZone(request, mark: mark)
        case .subscribe(let isMade): subscribe(request, isMade: isMade)
        case .unsubscribe: unsubscribe(request)
        case .readDatabaseChanges(let token): readDatabaseChanges(request, since: token)
        case .fetch(let token): fetch(request, since: token)
        case .lookUp(let keys): lookUp(request, keys)
        case .send(let items): send(request, items)
        }
    }

    private func emit(_ report: Report, _ events: StoredContents) {
        switch report {
        case .event(let event):
            emit(event)
            if case .accountChanged = event { noteToldSwitch() }
        case .contentsEvent(let event): emit(event, events)
        case .status(let status):
            guard status != currentStatus else { break }
            currentStatus = status
            statusHub.send(status)
        case .account(let status):
            lastAccountStatus = status
            accountHub.send(status)
        }
    }

    private func wake(at instant: Duration?) {
        guard let instant else { return resources.endSleep() }
        let session = session
        resources.sleep(until: instant, on: clock) { [weak self] in await self?.passTime(session) }
    }

    private func passTime(_ session: Int) {
        guard session == self.session else { return }
        for (request, time) in resources.takeWaits() { process(.requestWaited(request, time)) }
        process(.timePassed)
    }

    /// Emits an event about a state, unless that state is now a former user's.
    func emit(_ event: SyncEvent, _ session: Int) {
        if session == self.session { emit(event) }
    }

    nonisolated func emit(_ event: SyncEvent) {
        configuration.logHandler?(event)
        eventHub.send(event)
    }

    /// Reports that files can't be read right now, unless the engine is closed.
    func reportUnreadable(_ text: String) {
        if case .closed = phase { return }
        emit(.storageFailed(text))
    }

    // MARK: Events that carry contents

    private func emit(_ event: ContentsEvent, _ contents: StoredContents) {
        do {
            emit(try event.loaded(from: contents))
        } catch {
            emit(.storageFailed("Can't read the records of an event from the disk: \(error)"))
        }
    }
}

extension ContentsEvent {
    fileprivate func loaded(from contents: StoredContents) throws -> SyncEvent {
        switch self {
        case .discarded(let name, let handle, let reason):
            .discarded(recordName: name, try contents.record(handle), reason)
        case .editOfDeleted(let name, let handle, let kept):
            .editOfDeleted(recordName: name, try contents.record(handle), kept: kept)
        case .conflictResolved(let name, let client, let server, let outcome):
            .conflictResolved(
                recordName: name,
                client: try contents.record(client),
                server: try contents.record(server),
                outcome
            )
        }
    }
}
