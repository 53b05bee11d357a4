import RecordCoding

/// The machine's view of its journal: the batches being stored, and whether a flush is due.
struct Journal: Sendable {
    /// How long stored entries may stay unflushed.
    static var flushDelay: Duration { .seconds(1) }

    var uncommitted = UncommittedBatches()
    /// Events about the entries that are appended next, emitted once they are stored.
    var events: [ContentsEvent] = []
    /// Whether the current input reports that a batch is stored.
    var isCommitting = false
    /// Whether entries were appended without a flush, and none with a flush since.
    private(set) var isUnflushed = false

    /// Notes whether entries are flushed; returns whether that changes anything.
    mutating func note(isFlushed: Bool) -> Bool {
        guard isUnflushed == isFlushed else { return false }
        isUnflushed = !isFlushed
        return true
    }

    /// Whether a batch with such an outcome is being stored.
    func isStoring(where isWanted: (UncommittedBatch.Outcome) -> Bool) -> Bool {
        uncommitted.contains { isWanted($0.then) }
    }

    /// Whether the app's decision about purged records is being stored.
    var isStoringPurgeAnswer: Bool { isStoring { if case .purgeResolved = $0 { true } else { false } } }
}

extension SyncContext {
    /// Applies entries and appends them to the journal; `then` happens once they are stored.
    ///
    /// - Parameters:
    ///   - entries: The entries. Unless all of them are repeatable, they must survive a power loss before
    ///     `then` happens. Repeatable ones are flushed with later entries, or when no work is left.
    ///   - outcome: What happens once they are stored.
    mutating func append(_ entries: [JournalEntry], then outcome: UncommittedBatch.Outcome = .nothing) {
        append(entries, flush: !entries.allSatisfy(\.isRepeatable), then: outcome)
    }

    private mutating func append(
        _ entries: [JournalEntry],
        flush: Bool,
        then outcome: UncommittedBatch.Outcome
    ) {
        var batch = UncommittedBatch(batch: nextNumber(), entries: entries, then: outcome)
        batch.isFlushOwed = journal.isUnflushed
        batch.events = journal.events.map { .contentsEvent($0) }
        journal.events = []
        var lines = StateLines()
        state.beginImage()
        for entry in entries {
            if let event = state.eventOfReplaced(entry) {
                batch.events.append(.contentsEvent(event.event))
            }
            apply(entry, in: &batch, &lines)
        }
        state.writeRows(to: &lines)
        batch.image = state.endImage()
        let contents = batch.events.flatMap(\.contents)
        if !contents.isEmpty { actions.append(.journal(.keepContents(batch.batch, contents))) }
        actions.append(.journal(.append(batch.batch, entries, lines, flush: flush)))
        journal.uncommitted.append(batch)
        noteFlush(flush)
    }

    private mutating func apply(
        _ entry: JournalEntry,
        in batch: inout UncommittedBatch,
        _ lines: inout StateLines
    ) {
        let former = entry.fetchedKey.flatMap { state[$0]?.known }
        state.apply(entry, writing: &lines)
        switch entry {
        case .fetching(.fetched(let key, _, _)):
            if let known = state[key]?.known, known.isTooNew, former?.isSameVersion(as: known) != true {
                batch.events.append(state.eventOfTooNew(key, known))
            }
        case .fact(.zoneLost(_, let reason)): batch.events.append(.event(.zoneLost(reason)))
        case .sending(.parked(let key, let reason)):
            batch.events.append(.event(.parked(recordName: key.recordName, reason)))
        case .resolving(.resolved(let key, let client, _, .failed(let reason))):
            let pending = state[key]?.pending
            guard pending?.handle == client, pending?.parked == reason else { break }
            batch.events.append(.event(.parked(recordName: key.recordName, reason)))
        case .fact(.readable):
            batch.events += state.tooNewQueue.keys.compactMap { key in
                state[key]?.lastKnown.map { state.eventOfTooNew(key, $0) }
            }
        case .account(.signedOut), .fact(.removed): tell(.signedOut)
        case .fact(.accepted(let changes)): tell(.accepted(changes))
        default: break
        }
    }

    /// Answers a call once its entries and everything appended before them are stored.
    mutating func answer(_ call: CallID, afterStoring entries: [JournalEntry] = []) {
        if entries.isEmpty, journal.uncommitted.isEmpty {
            actions.append(.answer(call, .done))
        } else {
            append(entries, then: .answer(call))
        }
    }

    /// Flushes entries that were stored without a flush.
    mutating func flushRest() {
        if journal.isUnflushed { append([], flush: true, then: .nothing) }
    }

    private mutating func noteFlush(_ isFlushed: Bool) {
        guard journal.note(isFlushed: isFlushed) else { return }
        let timer = SyncTimer.flush
        actions.append(
            isFlushed ? .cancelTimer(timer) : .setTimer(timer, at: now.monotonic + Journal.flushDelay)
        )
    }

    /// Undoes a batch that could not be stored, and all later batches, which depend on it.
    ///
    /// - Returns: These batches, in order; none if the batch is not the first.
    mutating func undo(from batch: BatchID, _ failure: JournalFailure) -> [UncommittedBatch] {
        let refused = journal.uncommitted.removeAll(from: batch)
        if refused.isEmpty { return [] }
        actions.append(.journal(.resume))
        state.restore(refused.map(\.image))
        if refused.contains(where: { $0.then.call == nil }) { emit(.storageFailed(failure.detail)) }
        return refused
    }

    /// Owes the flush that refused batches would have made.
    mutating func oweFlush(of refused: [UncommittedBatch]) {
        // A failed flush alone is not repeated, so that a broken disk doesn't keep the engine busy.
        if refused.first?.isFlushOwed == true, refused.contains(where: { !$0.entries.isEmpty }) {
            noteFlush(false)
        }
    }
}

extension CloudError {
    /// The error that delays lanes as after a failed request; callers and events get the real cause.
    static var ofDisk: CloudError {
        CloudError(.internalError, message: "The state could not be read or written.")
    }
}

extension JournalEntry {
    /// The record whose version was fetched.
    fileprivate var fetchedKey: RecordKey? {
        if case .fetching(.fetched(let key, _, _)) = self { key } else { nil }
    }
}
