import Dispatch

/// A directory's ledger in memory, and its files.
///
/// `@unchecked Sendable` is correct because all mutable state is accessed only on `queue`.
final class LedgerStore: @unchecked Sendable {
    /// The log and ledger as last read.
    private struct Loaded {
        var log: JSONLog
        var ledger: CloudLedger
        var seal: LedgerSeal?
    }

    /// A finished snapshot, which replaces older files as soon as the lock is free.
    private struct Snapshot {
        var log: JSONLog
        var result: Result<CompactedLog, any Error>
        var waiting: [LedgerLine.Waiting]
        /// Keeps other processes from compacting.
        var lock: any FileLock
    }

    /// The last known state of the files; any difference is a change by another process.
    private enum Seen: Equatable {
        /// The files were not checked yet.
        case never
        /// This was the current journal; `nil` if there was none.
        case journal(LogStamp?)
    }

    let files: LedgerFiles
    private let limits: LedgerLimits
    private let options: LedgerOptions
    private let compactionSize: UInt64
    private let newIdentifier: @Sendable () -> String
    private let newEpoch: @Sendable () -> UInt64
    private let queue: DispatchQueue
    private let clock: any SyncClock
    private let compactionQueue = DispatchQueue(label: "CodableSync.LedgerCompaction")

    private var loaded: Loaded?
    /// The cloud's identity, once it was asked for.
    var identity: String?
    /// The epoch in which this process writes; a new one starts whenever another process may have written
    /// last.
    private var epoch: UInt64 = 0
    /// Whether a write failed, so that nothing more is appended to its journal.
    private var isJournalDoubtful = false
    /// The newest journal when this process last read, wrote or checked it.
    private var seen = Seen.never
    /// How many changes by other processes were found.
    private var othersChanges = 0
    private var compacts = false
    private var snapshot: Snapshot?
    /// Callers of `close` that wait until a compaction has ended.
    private var closing: [@Sendable () -> Void] = []
    /// The size of the log at which the next compaction starts; it grows when one fails.
    private var nextCompaction: UInt64 = 0

    init(
        files: LedgerFiles,
        limits: LedgerLimits,
        options: LedgerOptions,
        compactionSize: UInt64,
        newIdentifier: @escaping @Sendable () -> String,
        newEpoch: @escaping @Sendable () -> UInt64,
        queue: DispatchQueue,
        clock: any SyncClock
    ) {
        self.files = files
        self.limits = limits
        self.options = options
        self.compactionSize = compactionSize
        self.newIdentifier = newIdentifier
        self.newEpoch = newEpoch
        self.queue = queue
        self.clock = clock
    }

    /// Closes the files, once a running compaction has ended.
    func close(then done: @escaping @Sendable () -> Void) {
        if compacts {
            closing.append(done)
            return install()
        }
        loaded?.log.close()
        loaded = nil
        done()
    }

    /// Tries to take the lock that ``serve(_:under:)`` needs.
    func lock() throws -> LockOutcome {
        if loaded == nil { try files.checkContents() }
        return try files.lock()
    }

    /// Checks names and sizes only, so that it does not block other processes.
    ///
    /// - Returns: How many changes by other processes were found so far.
    func look() -> Result<Int, CloudError> {
        do {
            note(try files.newestJournal())
            return .success(othersChanges)
        } catch {
            return .failure(CloudError(ofFiles: error))
        }
    }

    /// Performs requests with one write, and releases the lock.
    func serve(_ waiting: [LedgerLine.Waiting], under lock: any FileLock) {
        guard !waiting.isEmpty else { return lock.release() }
        do {
            let answers = try answer(waiting)
            lock.release()
            for (one, answer) in zip(waiting, answers) {
                if let answer { one.answer(.success(answer)) }
            }
        } catch {
            lock.release()
            let error = CloudError(ofFiles: error)
            for one in waiting { one.answer(.failure(error)) }
        }
    }

    /// Counts a change by others since the last check.
    private func note(_ journal: LogStamp?) {
        if seen != .never, seen != .journal(journal) { othersChanges += 1 }
        seen = .journal(journal)
    }

    // MARK: Under the lock

    /// Performs requests one after another; `nil` is a response that comes later.
    private func answer(_ waiting: [LedgerLine.Waiting]) throws -> [LedgerAnswer?] {
        try catchUp()
        guard var current = loaded else { return [] }
        // Only one reference may remain, since otherwise the first change would copy the ledger.
        loaded = nil
        var group = LogGroup()
        var seals: [(line: Int, entry: LedgerEntry, bytes: [UInt8])] = []
        var compactions: [LedgerLine.Waiting] = []
        var answers: [LedgerAnswer?] = []
        for one in waiting {
            switch one.kind {
            case .compact:
                compactions.append(one)
                answers.append(nil)
            case .request(let request, let date):
                let (response, entries) = current.ledger.handle(request, at: date, epoch: epoch)
                for entry in entries {
                    let bytes = entry.encode()
                    if case .epochBegan = entry.change { seals.append((group.count, entry, bytes)) }
                    try group.append(bytes)
                    current.ledger.apply(entry)
                }
                answers.append((response, entries))
            }
        }
        if !group.isEmpty {
            let positions = try commit(group, to: current.log)
            if let (line, entry, bytes) = seals.last {
                current.seal = LedgerSeal(entry, bytes, positions[line])
            }
        }
        loaded = current
        compactIfLarge(answering: compactions)
        // Everything after this was written by this process.
        seen = .journal(current.log.newestJournal)
        return answers
    }

    private func commit(_ group: LogGroup, to log: JSONLog) throws -> [LogPosition] {
        do {
            return try log.commit(group, flush: true)
        } catch {
            log.close()
            guard let error = error as? FileError, !error.isOutOfSpace else { throw error }
            isJournalDoubtful = true
            // Sending the request again shows whether it was performed.
            throw CloudError(.serverResponseLost, message: error.message)
        }
    }

    /// Updates the ledger in memory from disk.
    private func catchUp() throws {
        guard var current = loaded else { return try load() }
        loaded = nil
        guard try current.seal?.stands(in: current.log) != false else {
            current.log.close()
            return try load()
        }
        let tail = try current.log.catchUp { line, position in
            current.seal = try files.apply(line, position, to: &current.ledger) ?? current.seal
        }
        switch tail {
        case .unchanged:
            loaded = current
        case .appended:
            loaded = current
            epoch = newEpoch()
            note(current.log.newestJournal)
        case .superseded:
            current.log.close()
            try load()
        }
    }

    /// The ledger's own identifier; an empty directory becomes a ledger.
    func ledgerIdentifier() throws -> String {
        try catchUp()
        guard let loaded else { throw CloudError.directoryClosed }
        // A new ledger is this process's own change.
        seen = .journal(loaded.log.newestJournal)
        return loaded.ledger.identifier
    }

    private func load() throws {
        try checkIdentity()
        let identifier = newIdentifier()
        let (log, ledger, seal) = try files.load(named: identifier, ledger(named:))
        epoch = newEpoch()
        if isJournalDoubtful {
            try log.continueInNewFile()
            isJournalDoubtful = false
        }
        if let ledger {
            loaded = Loaded(log: log, ledger: ledger, seal: seal)
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
    /// Starts a compaction if the log is large, or on request: the snapshot is written in the background,
    /// from a copy of the current ledger.
    private func compactIfLarge(answering waiting: [LedgerLine.Waiting]) {
        guard let loaded, !waiting.isEmpty || loaded.log.byteCount >= nextCompaction, !compacts else {
            return finish(waiting, .success((.done, [])))
        }
        do {
            guard
                case .acquired(let lock) = try files.fileSystem.lock(files.compactionLockPath)
            else { return finish(waiting, .success((.done, []))) }
            try loaded.log.removeTemporaryFiles()
            let compaction = try loaded.log.beginCompaction()
            compacts = true
            // The seal's line stays in the old files, so a new epoch starts.
            epoch = newEpoch()
            let ledger = loaded.ledger
            compactionQueue.async {
                let result = Result { try Self.write(ledger, into: compaction) }
                self.queue.async {
                    self.snapshot = Snapshot(log: loaded.log, result: result, waiting: waiting, lock: lock)
                    self.install()
                }
            }
        } catch {
            // The ledger is still valid; the next attempt is made when the log has doubled in size.
            nextCompaction = loaded.log.byteCount * 2
            finish(waiting, .failure(CloudError(ofFiles: error)))
        }
    }

    private static func write(_ ledger: CloudLedger, into compaction: LogCompaction) throws -> CompactedLog {
        try compaction.write { snapshot in
            _ = try snapshot.append(LedgerFiles.line(identifier: ledger.identifier))
            for entry in ledger.snapshotEntries() { _ = try snapshot.append(entry.encode()) }
            return []
        }
    }

    /// Replaces the files with their snapshot.
    ///
    /// It tries again while another process holds the lock; when the directory is closed, the next opening
    /// does it.
    private func install() {
        guard let snapshot else { return }
        do {
            let compacted = try snapshot.result.get()
            switch try files.lock() {
            case .held where closing.isEmpty:
                return installLater()
            case .held:
                finish(snapshot.waiting, .failure(.directoryClosed))
            case .acquired(let lock):
                defer { lock.release() }
                try snapshot.log.finishCompaction(compacted)
                nextCompaction = max(compactionSize, snapshot.log.snapshotByteCount * 4)
                finish(snapshot.waiting, .success((.done, [])))
            }
        } catch {
            nextCompaction = snapshot.log.byteCount * 2
            finish(snapshot.waiting, .failure(CloudError(ofFiles: error)))
        }
        self.snapshot = nil
        compacts = false
        snapshot.lock.release()
        closeIfWanted()
    }

    private func installLater() {
        let end = clock.now.monotonic + .milliseconds(10)
        Task { [clock] in
            do {
                try await clock.sleep(until: end)
            } catch {
                // The sleep is never cancelled.
            }
            queue.async { self.install() }
        }
    }

    private func closeIfWanted() {
        let closing = closing
        self.closing = []
        for done in closing { close(then: done) }
    }

    private func finish(
        _ waiting: [LedgerLine.Waiting],
        _ result: Result<LedgerAnswer, CloudError>
    ) {
        for one in waiting { one.answer(result) }
    }
}
