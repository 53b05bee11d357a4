import RecordCoding

/// The inputs that the machine has handled since the last turn ended.
struct Turn {
    /// The core before the first input, to which it returns if the turn cannot be stored.
    struct Before {
        var machine: SyncStateMachine
        /// The contents of the response that the machine held.
        var held: [ContentHandle: Record]
    }

    var before: Before?
    var inputs: [SyncInput] = []
    /// Contents that the inputs name, and that may not be stored.
    var contents: [ContentHandle: Record] = [:]
}

/// The progress of storing turns.
struct Storing {
    /// What reads will show once the turn that ended last is stored; `nil` if none is being stored.
    var view: StateView?
    /// Whether the end of the open turn waits for the jobs before it.
    var isScheduled = false
    /// Whether nothing is handled any more.
    var isClosed = false
    /// Whether nothing is stored, because another user's state replaces this one.
    var isPaused = false
    /// When to retry removing records from the files; `nil` if the files hold no removed records.
    var removal: Removal?
    /// Whether records are being removed from the files.
    var isRemoving = false
    /// Why the removal of records could not be stored, if so.
    var removalFailure: JournalFailure?

    /// When to retry removing records from the files: after 1, 2, 4, 8 … 1024 writes.
    ///
    /// An attempt rewrites all files, so it must not run after every write.
    struct Removal {
        private var pause = 1
        private var left = 0

        mutating func isDue() -> Bool {
            if left == 0 { return true }
            left -= 1
            return false
        }

        mutating func fail() {
            left = pause
            pause = min(pause * 2, 1024)
        }
    }
}

/// Storing what a turn has changed, before anything follows from it.
///
/// A turn is all inputs that the machine has handled since the last one ended. Its end is a job behind those that
/// wait already, so a thousand callers share one write and one flush. While a turn is being flushed, the next one
/// goes on. If a turn cannot be stored, the core returns to the machine from before it.
extension SyncCore {
    /// Whether everything is stored.
    var isStored: Bool {
        turn.inputs.isEmpty && storing.view == nil && !storing.isScheduled && !storing.isRemoving
    }

    /// Handles an input in the open turn.
    func take(_ input: SyncInput, _ contents: [ContentHandle: Record]) {
        guard !storing.isClosed, let heldBefore = machine?.holdsResponse else { return }
        if turn.before == nil { turn.before = machine.map { Turn.Before(machine: $0, held: heldContents) } }
        turn.inputs.append(input)
        turn.contents.merge(contents) { $1 }
        // Later calls read it before it is stored.
        files?.keep(contents)
        machine?.handle(input, at: now)
        noteHeld(contents, heldBefore: heldBefore)
        inspect()
    }

    /// Ends the turn behind the jobs that wait already, so that their inputs share its write.
    func scheduleEnd() {
        if storing.isScheduled || storing.view != nil || turn.inputs.isEmpty { return }
        storing.isScheduled = true
        // Not less urgent than a call of a screen that joins the turn.
        Task(priority: .userInitiated) { endTurn() }
    }

    private func noteHeld(_ contents: [ContentHandle: Record], heldBefore: Bool) {
        let holds = machine?.holdsResponse == true
        if holds, !heldBefore { heldContents = contents }
        if holds || heldContents.isEmpty { return }
        // The machine names them from now on.
        files?.keep(heldContents)
        turn.contents.merge(heldContents) { $1 }
        heldContents = [:]
    }

    private func inspect() {
        if let inspector = configuration.inspector, let machine { inspector(machine) }
    }

    /// Ends the open turn, unless the former one is being stored.
    func endTurn() {
        storing.isScheduled = false
        while storing.view == nil, !storing.isPaused, !turn.inputs.isEmpty, let files {
            guard let actions = machine?.endTurn(at: now) else { break }
            noteHeld([:], heldBefore: true)
            inspect()
            let ended = EndedTurn(turn: turn, actions: actions)
            turn = Turn()
            store(ended, in: files)
        }
        notifyWatchers()
    }

    private func store(_ ended: EndedTurn, in files: OpenFiles) {
        guard let state = machine?.state else { return }
        storing.view = view(of: state, files)
        let events = contents(of: ended.actions, in: ended.turn, files)
        let batch = batch(ended.changes, ended.turn.contents)
        if batch.rows.isEmpty, !batch.flush { return finish(ended, nil, events, files) }
        // What needs no flush is stored at once; a flush takes long, so the core goes on meanwhile.
        guard batch.flush else {
            return finish(ended, files.writeBlocking(batch, leaving: state), events, files)
        }
        let session = session
        files.write(batch, leaving: state) { failure in
            Task(priority: .userInitiated) {
                await self.finish(session) { core in
                    core.finish(ended, failure, events, files)
                    core.endTurn()
                }
            }
        }
    }

    /// Goes on after the turn is stored, or could not be.
    private func finish(
        _ ended: EndedTurn,
        _ failure: JournalFailure?,
        _ events: StoredContents,
        _ files: OpenFiles
    ) {
        // After a crash, nothing follows from it.
        guard machine != nil else { return }
        let view = storing.view
        if let failure {
            note(failure, of: ended.changes)
            takeAgain(ended.turn, failure, files)
        } else {
            note(nil, of: ended.changes)
            files.forget(ended.turn.contents)
            // A call reads its own write, so this comes before its answer.
            publish(view)
            perform(ended.actions, events)
        }
        storing.view = nil
        // What was performed may have begun a switch to another user.
        if !publishes { publish(nil) }
        if !ended.changes.rows.isEmpty {
            if failure == nil, machine?.isDiskRefusing == true { process(.delivery(.storable)) }
            if storing.removal?.isDue() == true { removeTraces() } else { compactIfDue(files) }
        }
    }

    /// Handles the inputs of a turn that could not be stored, and those since, one at a time.
    private func takeAgain(_ ended: Turn, _ failure: JournalFailure, _ files: OpenFiles) {
        guard let before = ended.before, machine != nil else { return }
        let next = turn
        turn = Turn()
        var contents = before.held
        contents.merge(ended.contents) { $1 }
        contents.merge(next.contents) { $1 }
        var machine = before.machine
        let actions = machine.takeAgain(ended.inputs + next.inputs, after: failure, at: now) {
            changes,
            state in
            let failure = files.writeBlocking(batch(changes, contents), leaving: state)
            note(failure, of: changes)
            return failure
        }
        self.machine = machine
        heldContents = machine.holdsResponse ? contents : [:]
        files.forget(contents)
        inspect()
        publish(view(of: machine.state, files))
        perform(actions, self.contents(of: actions, in: Turn(contents: contents), files))
    }

    private func batch(_ changes: TurnChanges, _ contents: [ContentHandle: Record]) -> JournalBatch {
        var introduced: [ContentHandle: Record] = [:]
        for handle in changes.introduced { introduced[handle] = contents[handle] }
        let mustFlush = changes.mustFlush && configuration.durability == .flushed
        return JournalBatch(rows: changes.rows, contents: introduced, flush: mustFlush)
    }

    /// The contents of the events among actions, loaded before a compaction may drop them.
    private func contents(of actions: [SyncAction], in turn: Turn, _ files: OpenFiles) -> StoredContents {
        var contents = StoredContents()
        let handles = actions.flatMap(\.eventContents)
        if handles.isEmpty { return contents }
        for handle in handles { contents.records[handle] = turn.contents[handle] }
        let missing = handles.filter { contents[$0] == nil }
        do {
            let loaded = try files.loadBlocking(missing)
            contents.records.merge(loaded.records) { $1 }
            contents.unreadable = loaded.unreadable
        } catch {
            // The events report it.
            for handle in missing { contents.unreadable[handle] = "\(error)" }
        }
        return contents
    }

    // MARK: Ending

    /// Drops what is not being stored, and stores nothing more, as a crash does.
    func dropTurn() {
        turn = Turn()
        storing.isClosed = true
    }

    /// Stores what the turn has changed, and nothing more.
    func storeLastTurn() async {
        storing.isClosed = true
        // The files of a former user are closed.
        if storing.isPaused {
            turn = Turn()
            storing.isScheduled = false
        }
        endTurn()
        await wait { $0.isStored || $0.machine == nil }
    }

    /// Starts a compaction if one is due.
    func compactIfDue(_ files: OpenFiles) {
        let session = session
        files.store.compactIfDue { [weak self] error in
            Task { await self?.finish(session) { $0.reportCompaction("\(error)") } }
        }
    }

    // MARK: Removed records

    private func note(_ failure: JournalFailure?, of changes: TurnChanges) {
        guard changes.removesRecords else { return }
        storing.removalFailure = failure
        if failure == nil { storing.removal = Storing.Removal() }
    }

    private func removeTraces() {
        guard let files, !storing.isRemoving else { return }
        storing.isRemoving = true
        let session = session
        Task { [weak self] in
            let failure = await files.removeTraces()
            await self?.finish(session) { $0.endRemoving(failure) }
        }
    }

    private func endRemoving(_ failure: (any Error)?) {
        storing.isRemoving = false
        if let failure {
            reportCompaction("\(failure)")
            storing.removal?.fail()
        } else {
            storing.removal = nil
        }
        notifyWatchers()
    }

    /// Waits until everything is stored and removed records are gone from the files.
    ///
    /// - Returns: Why records could not be removed, if so.
    func settleTurn() async -> JournalFailure? {
        await wait { $0.isStored || $0.machine == nil }
        if storing.removal != nil {
            removeTraces()
            await wait { $0.isStored || $0.machine == nil }
        }
        // Reported once: the next attempt stores the removal again, unless an earlier one has stored it.
        defer { storing.removalFailure = nil }
        if let failure = storing.removalFailure { return failure }
        return storing.removal == nil
            ? nil : .unreadable("Can't remove the signed-out user's records from the files right now.")
    }
}

/// A turn that has ended, and what follows from it.
private struct EndedTurn: Sendable {
    var turn: Turn
    var actions: [SyncAction]

    var changes: TurnChanges {
        if case .store(let changes)? = actions.first { changes } else { TurnChanges() }
    }
}

extension SyncAction {
    /// The contents that the event carries.
    fileprivate var eventContents: [ContentHandle] {
        if case .report(let report) = self { report.contents } else { [] }
    }
}
