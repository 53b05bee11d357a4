import RecordCoding

/// What the inputs of a turn have changed and is not stored yet.
struct Turn {
    /// A batch to write, and the contents for the events about it.
    struct Work {
        var batch: JournalBatch
        var events: StoredContents
        /// The contents for the events that must be loaded before the batch is written.
        var loading: [ContentHandle]

        /// Whether the batch removes records that must not stay in the files.
        var removesRecords: Bool { batch.lines.contains(.fact(.removed)) }
    }

    var work: [Work] = []
    /// What reads will show once the former turn is stored; `nil` if none is being stored.
    var storing: StateView?
    /// Whether the end of the turn waits for the jobs before it.
    var isScheduled = false
    /// Whether nothing is stored any more.
    var isClosed = false
    /// When to retry removing records from the files; `nil` if the files hold no removed records.
    var removal: Removal?
    /// Whether records are being removed from the files.
    var isRemoving = false
    /// Why the removal of records could not be stored, if so.
    var removalFailure: JournalFailure?

    var isStoring: Bool { storing != nil }

    /// Whether everything is stored.
    var isOver: Bool { work.isEmpty && !isScheduled && !isStoring && !isRemoving }

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

/// Storing what a turn has changed.
extension SyncCore {
    /// Stores a batch at the end of the turn.
    func append(_ batch: BatchID, _ lines: StateLines, flush: Bool) {
        if turn.isClosed { return }
        var contents: [ContentHandle: Record] = [:]
        for handle in lines.introduced { contents[handle] = staged[handle] ?? heldContents[handle] }
        var events = StoredContents()
        for handle in keptForEvents { events.records[handle] = staged[handle] ?? heldContents[handle] }
        let mustFlush = flush && configuration.durability == .flushed
        turn.work.append(
            Turn.Work(
                batch: JournalBatch(batch: batch, lines: lines.lines, contents: contents, flush: mustFlush),
                events: events,
                loading: keptForEvents.filter { events[$0] == nil }
            )
        )
        keptForEvents = []
        files?.keep(contents)
        if turn.isScheduled || turn.isStoring { return }
        turn.isScheduled = true
        // Behind the jobs that wait already, which share one write and one flush.
        Task { endTurn() }
    }

    /// Drops what is not being stored, and stores nothing more, as a crash does.
    func dropTurn() {
        turn.work = []
        turn.isClosed = true
    }

    /// Drops what depends on a batch that could not be stored.
    func dropDependents() {
        turn.work = []
        files?.forgetAll()
    }

    /// Begins to store what the turn has changed, unless the former turn is being stored.
    ///
    /// What needs no flush is stored at once. A flush takes long, so the next turn goes on meanwhile.
    func endTurn() {
        turn.isScheduled = false
        while let files, let machine, !turn.work.isEmpty, !turn.isStoring {
            let work = turn.work.map { loaded($0, from: files) }
            turn.work = []
            let view = StateView(session: session, records: machine.state.recordView, files: files)
            turn.storing = view
            let batches = work.map(\.batch)
            if batches.contains(where: \.flush) {
                let session = session
                Task {
                    let failure = await files.write(batches)
                    finish(session) { core in
                        core.takeStored(work, view, failure, files)
                        core.endTurn()
                    }
                }
            } else {
                takeStored(work, view, files.writeBlocking(batches), files)
            }
        }
        notifyWatchers()
    }

    /// Passes on that batches are stored, or why they could not be.
    private func takeStored(
        _ work: [Turn.Work],
        _ view: StateView,
        _ failure: JournalFailure?,
        _ files: OpenFiles
    ) {
        // Until all of it is passed on, the core is not idle.
        defer { turn.storing = nil }
        if let failure {
            if (work + turn.work).contains(where: \.removesRecords) { turn.removalFailure = failure }
            return process(.journal(.commitFailed(work[0].batch.batch, failure)))
        }
        if work.contains(where: \.removesRecords) {
            turn.removalFailure = nil
            turn.removal = Turn.Removal()
        }
        for one in work { files.forget(one.batch.contents) }
        // A call reads its own write, so this comes before its answer.
        publish(view)
        for one in work {
            eventContents = one.events
            process(.journal(.committed(one.batch.batch)))
        }
        eventContents = StoredContents()
        if turn.removal?.isDue() == true { removeTraces() } else { compactIfDue(files) }
    }

    /// Stores what the turn has changed, and nothing more.
    func storeLastTurn() async {
        turn.isClosed = true
        endTurn()
        await wait { $0.turn.isOver || $0.machine == nil }
    }

    private func loaded(_ work: Turn.Work, from files: OpenFiles) -> Turn.Work {
        if work.loading.isEmpty { return work }
        var work = work
        do {
            let loaded = try files.loadBlocking(work.loading)
            work.events.records.merge(loaded.records) { $1 }
            work.events.unreadable.merge(loaded.unreadable) { $1 }
        } catch {
            // The events report it.
            for handle in work.loading { work.events.unreadable[handle] = "\(error)" }
        }
        return work
    }

    /// Starts a compaction if one is due.
    func compactIfDue(_ files: OpenFiles) {
        let session = session
        files.store.compactIfDue { [weak self] error in
            Task { await self?.finish(session) { $0.reportCompaction("\(error)") } }
        }
    }

    // MARK: Removed records

    private func removeTraces() {
        guard let files, !turn.isRemoving else { return }
        turn.isRemoving = true
        let session = session
        Task { [weak self] in
            let failure = await files.removeTraces()
            await self?.finish(session) { $0.endRemoving(failure) }
        }
    }

    private func endRemoving(_ failure: (any Error)?) {
        turn.isRemoving = false
        if let failure {
            reportCompaction("\(failure)")
            turn.removal?.fail()
        } else {
            turn.removal = nil
        }
        notifyWatchers()
    }

    /// Waits until everything is stored and removed records are gone from the files.
    ///
    /// - Returns: Why records could not be removed, if so.
    func settleTurn() async -> JournalFailure? {
        await wait { $0.turn.isOver || $0.machine == nil }
        if turn.removal != nil {
            removeTraces()
            await wait { $0.turn.isOver || $0.machine == nil }
        }
        // Reported once: the next attempt stores the removal again, unless an earlier one has stored it.
        defer { turn.removalFailure = nil }
        if let failure = turn.removalFailure { return failure }
        return turn.removal == nil
            ? nil : .unreadable("Can't remove the signed-out user's records from the files right now.")
    }
}
