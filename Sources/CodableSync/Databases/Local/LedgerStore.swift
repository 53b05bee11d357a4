import Dispatch

/// The ledger of a directory in memory, and the files that it is kept in.
///
/// `@unchecked Sendable` holds because everything mutable is touched on `queue` alone, except for the count of
/// changes, which has its own lock.
final class LedgerStore: @unchecked Sendable {
    /// What was read, and has not been overtaken.
    private struct Loaded {
        var log: JSONLog
        var ledger: CloudLedger
    }

    /// What is known of the files without reading them; what differs from it, others have done.
    private enum Seen: Equatable {
        /// Nobody has looked.
        case never
        /// There was a journal like this, or none.
        case journal(LogStamp?)
    }

    private let files: LedgerFiles
    private let limits: LedgerLimits
    private let options: LedgerOptions
    private let compactionSize: UInt64
    private let newIdentifier: @Sendable () -> String
    private let queue: DispatchQueue
    private let compactionQueue = DispatchQueue(label: "CodableSync.LedgerCompaction")
    private let othersChanges = Locked(0)

    private var loaded: Loaded?
    /// Whether a write failed, so that the journal it went into is not continued.
    private var isJournalDoubtful = false
    /// The newest journal when it was last read, written or looked at here.
    private var seen = Seen.never
    private var compacts = false
    /// Those who wait for a compaction to end, so that nothing touches the files any more.
    private var closing: [@Sendable () -> Void] = []
    /// No compaction before the log is this large; grows when one fails.
    private var nextCompaction: UInt64 = 0

    init(
        files: LedgerFiles,
        limits: LedgerLimits,
        options: LedgerOptions,
        compactionSize: UInt64,
        newIdentifier: @escaping @Sendable () -> String,
        queue: DispatchQueue
    ) {
        self.files = files
        self.limits = limits
        self.options = options
        self.compactionSize = compactionSize
        self.newIdentifier = newIdentifier
        self.queue = queue
    }

    /// How many times others were found to have changed the ledger.
    var changesByOthers: Int { othersChanges.withLock { $0 } }

    /// Closes the files, once a compaction that is under way has left them.
    func close(then done: @escaping @Sendable () -> Void) {
        if compacts { return closing.append(done) }
        loaded?.log.close()
        loaded = nil
        done()
    }

    /// Answers requests, all of them with one write.
    func serve(_ waiting: [LedgerDirectory.Waiting]) {
        do {
            if waiting.allSatisfy(\.isLook) {
                // Neither locks nor makes anything: whoever only listens is in nobody's way.
                note(try files.newestJournal())
                for one in waiting { one.answer(.success((.done, []))) }
                return
            }
            let answers = try files.withLock { try answer(waiting) }
            for (one, answer) in zip(waiting, answers) {
                if let answer { one.answer(.success(answer)) }
            }
        } catch {
            let error = LedgerDirectoryError(error)
            for one in waiting { one.answer(.failure(error)) }
        }
    }

    /// Counts what others have done since the last look.
    private func note(_ journal: LogStamp?) {
        if seen != .never, seen != .journal(journal) { othersChanges.withLock { $0 += 1 } }
        seen = .journal(journal)
    }

    // MARK: Under the lock

    /// Handles requests one after the other; `nil` stands for an answer that is given later.
    private func answer(_ waiting: [LedgerDirectory.Waiting]) throws -> [LedgerDirectory.Answer?] {
        try catchUp()
        guard var current = loaded else { return [] }
        // Only one reference may remain, or the first change would copy the ledger.
        loaded = nil
        var group = LogGroup()
        var compactions: [LedgerDirectory.Waiting] = []
        var answers: [LedgerDirectory.Answer?] = []
        for one in waiting {
            switch one.kind {
            case .look:
                answers.append((.done, []))
            case .compact:
                compactions.append(one)
                answers.append(nil)
            case .request(let request, let date):
                let (response, entries) = current.ledger.handle(request, at: date)
                for entry in entries {
                    try group.append(entry.encode())
                    current.ledger.apply(entry)
                }
                answers.append((response, entries))
            }
        }
        if !group.isEmpty { try commit(group, to: current.log) }
        loaded = current
        compactIfLarge(answering: compactions)
        // The rest is our own doing.
        seen = .journal(current.log.newestJournal)
        return answers
    }

    private func commit(_ group: LogGroup, to log: JSONLog) throws {
        do {
            try log.commit(group, flush: true)
        } catch {
            log.close()
            guard let error = error as? FileError, !error.isOutOfSpace else { throw error }
            isJournalDoubtful = true
            throw LedgerDirectoryError(.outcomeUnknown, message: error.message)
        }
    }

    /// Makes the ledger in memory the one on disk.
    private func catchUp() throws {
        guard var current = loaded else { return try load() }
        loaded = nil
        let tail = try current.log.catchUp { line, position in
            try files.apply(line, position, to: &current.ledger)
        }
        switch tail {
        case .unchanged:
            loaded = current
        case .appended:
            loaded = current
            note(current.log.newestJournal)
        case .superseded:
            current.log.close()
            try load()
        }
    }

    private func load() throws {
        let identifier = newIdentifier()
        let (log, ledger) = try files.load(named: identifier, ledger(named:))
        if isJournalDoubtful {
            try log.continueInNewFile()
            isJournalDoubtful = false
        }
        if let ledger {
            loaded = Loaded(log: log, ledger: ledger)
            note(log.newestJournal)
        } else {
            var group = LogGroup()
            try group.append(LedgerFiles.line(identifier: identifier))
            try log.commit(group, flush: true)
            loaded = Loaded(log: log, ledger: self.ledger(named: identifier))
        }
        nextCompaction = max(compactionSize, log.snapshotByteCount * 4)
    }

    private func ledger(named identifier: String) -> CloudLedger {
        CloudLedger(identifier: identifier, limits: limits, options: options)
    }
}

// MARK: - Compaction

extension LedgerStore {
    /// Begins a compaction if the log is large, or if somebody asks for one: the snapshot is written beside the
    /// requests, from a copy of the ledger as it is now.
    private func compactIfLarge(answering waiting: [LedgerDirectory.Waiting]) {
        guard let loaded, !waiting.isEmpty || loaded.log.byteCount >= nextCompaction, !compacts else {
            return finish(waiting, .success((.done, [])))
        }
        do {
            guard
                case .acquired(let lock) = try files.fileSystem.lock(files.compactionLockPath, waiting: false)
            else { return finish(waiting, .success((.done, []))) }
            try loaded.log.removeTemporaryFiles()
            let compaction = try loaded.log.beginCompaction()
            compacts = true
            let ledger = loaded.ledger
            compactionQueue.async {
                let result = Result { try Self.write(ledger, into: compaction) }
                self.queue.async {
                    self.finishCompaction(of: loaded.log, result, answering: waiting)
                    lock.release()
                    self.closeIfWanted()
                }
            }
        } catch {
            // The ledger is none the worse for it; the next try is when there is again as much to leave out.
            nextCompaction = loaded.log.byteCount * 2
            finish(waiting, .failure(LedgerDirectoryError(error)))
        }
    }

    private static func write(_ ledger: CloudLedger, into compaction: LogCompaction) throws -> CompactedLog {
        do {
            _ = try compaction.append(LedgerFiles.line(identifier: ledger.identifier))
            for entry in ledger.snapshotEntries() { _ = try compaction.append(entry.encode()) }
            return try compaction.finish()
        } catch {
            try compaction.cancel()
            throw error
        }
    }

    private func finishCompaction(
        of log: JSONLog,
        _ result: Result<CompactedLog, any Error>,
        answering waiting: [LedgerDirectory.Waiting]
    ) {
        compacts = false
        do {
            let compacted = try result.get()
            try files.withLock { try log.finishCompaction(compacted) }
            nextCompaction = max(compactionSize, log.snapshotByteCount * 4)
            finish(waiting, .success((.done, [])))
        } catch {
            nextCompaction = log.byteCount * 2
            finish(waiting, .failure(LedgerDirectoryError(error)))
        }
    }

    private func closeIfWanted() {
        let closing = closing
        self.closing = []
        for done in closing { close(then: done) }
    }

    private func finish(
        _ waiting: [LedgerDirectory.Waiting],
        _ result: Result<LedgerDirectory.Answer, LedgerDirectoryError>
    ) {
        for one in waiting { one.answer(result) }
    }
}

extension LedgerDirectory.Waiting {
    fileprivate var isLook: Bool {
        if case .look = kind { true } else { false }
    }
}
