import Dispatch
import RecordCoding

/// Writes batches to the journal strictly in order, with one write and one flush for all that are waiting.
///
/// Files are written and read on dispatch queues, so that a slow disk blocks neither the core nor a thread of
/// the tasks.
final class JournalDisk: Sendable {
    /// The outcome of a batch or of work on the files.
    enum Outcome: Sendable {
        /// The contents are those that the events about the batch carry.
        case stored(BatchID, events: StoredContents)
        case failed(BatchID, JournalFailure)
        /// The files could not be compacted.
        case notCompacted(reason: String)
        /// All work submitted up to this mark is done.
        case atRest(UInt64)
    }

    /// A batch to write, and the contents for the events about it.
    struct Work {
        var batch: JournalBatch
        var events: StoredContents
        /// The contents for the events that must be loaded before the batch is written.
        var loading: [ContentHandle]
    }

    struct State {
        var waiting: [Work] = []
        /// The contents of batches that are not stored yet.
        var unstored: [ContentHandle: Record] = [:]
        var isRunning = false
        var isClosed = false
        /// Whether no more batches are accepted or written, except for a write in progress.
        var isAbandoned = false
        /// Why the last write failed.
        ///
        /// Until ``JournalDisk/resume()``, later batches fail for the same reason, since they depend on
        /// entries that are not stored.
        var refusal: JournalFailure?
        /// Counts submitted work.
        var mark: UInt64 = 0
        /// The number of jobs that are queued or running.
        var jobs = 0
        /// When to retry removing records from the files; `nil` if the files hold no removed records.
        var removal: Removal?
        /// Why the removal of records could not be stored, if so.
        var failure: JournalFailure?

        mutating func forgetContents(of work: [Work]) {
            for one in work { for handle in one.batch.contents.keys { unstored[handle] = nil } }
        }

        var leftTraces: JournalFailure? {
            removal == nil
                ? nil
                : .unreadable("Can't remove the signed-out user's records from the files right now.")
        }
    }

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

    let state = Locked(State())
    let store: any StateStore
    private let queue = DispatchQueue(label: "CodableSync.journal")
    let readingQueue = DispatchQueue(label: "CodableSync.reading")
    private let outcomes: AsyncStream<Outcome>.Continuation
    private let directory: StateDirectory

    /// Creates the writer and reader of a journal.
    ///
    /// - Parameters:
    ///   - store: Where the journal is.
    ///   - outcomes: Receives the outcome of each batch, in order, and failures of compactions.
    ///   - directory: The engine's directory, released once the files are closed.
    init(
        store: any StateStore,
        outcomes: AsyncStream<Outcome>.Continuation,
        directory: StateDirectory
    ) {
        self.store = store
        self.outcomes = outcomes
        self.directory = directory
    }

    /// Writes a batch after those that were appended before.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - events: The contents for the events about the batch, as far as they are known.
    ///   - loading: The contents for these events that must be loaded, before the batch is written.
    func append(
        _ batch: JournalBatch,
        events: StoredContents = StoredContents(),
        loading: [ContentHandle] = []
    ) {
        let mustRun = state.withLock { state -> Bool in
            if state.isClosed || state.isAbandoned { return false }
            state.mark += 1
            state.waiting.append(Work(batch: batch, events: events, loading: loading))
            state.unstored.merge(batch.contents) { $1 }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustRun { perform { [self] in run() } }
    }

    /// Accepts batches again after a failure that the machine has processed.
    ///
    /// Batches that were appended before are dropped without a report.
    func resume() {
        state.withLock { state in
            if state.waiting.contains(where: \.batch.removesRecords) { state.failure = state.refusal }
            state.unstored = [:]
            state.refusal = nil
            state.waiting = []
        }
    }

    /// Runs work on the queue, and reports when no more work is left.
    private func perform(_ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.mark += 1
            state.jobs += 1
        }
        queue.async { [self] in
            work()
            let mark = state.withLock { state -> UInt64? in
                state.jobs -= 1
                return state.jobs == 0 ? state.mark : nil
            }
            if let mark { outcomes.yield(.atRest(mark)) }
        }
    }

    /// The mark of the latest submitted work; an outcome reports when that work is done.
    var mark: UInt64 { state.withLock { $0.mark } }

    private func run() {
        while true {
            var (work, refusal) = state.withLock { state -> ([Work], JournalFailure?) in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isRunning = false }
                return (state.waiting, state.refusal)
            }
            if work.isEmpty { return }
            for index in work.indices { loadForEvents(&work[index]) }
            let failure = refusal ?? write(work.map(\.batch))
            // Reads may show refused contents until the machine has processed the failure.
            if failure == nil { state.withLock { $0.forgetContents(of: work) } }
            for one in work {
                let batch = one.batch.batch
                outcomes.yield(failure.map { .failed(batch, $0) } ?? .stored(batch, events: one.events))
            }
            let isRemovalDue = state.withLock { state -> Bool in
                if work.contains(where: \.batch.removesRecords) {
                    state.failure = failure
                    if failure == nil { state.removal = Removal() }
                }
                return state.removal?.isDue() == true
            }
            if isRemovalDue {
                removeTraces()
            } else {
                beginCompactionIfDue()
            }
        }
    }

    /// Writes batches together.
    ///
    /// - Returns: Why the batches could not be stored; `nil` if they are stored.
    private func write(_ batches: [JournalBatch]) -> JournalFailure? {
        do {
            try store.append(batches)
            return nil
        } catch {
            let failure = error as? JournalFailure ?? .unreadable("\(error)")
            state.withLock { $0.refusal = failure }
            return failure
        }
    }

    private func loadForEvents(_ work: inout Work) {
        if work.loading.isEmpty { return }
        do {
            let loaded = try loadBlocking(work.loading)
            work.events.records.merge(loaded.records) { $1 }
            work.events.unreadable.merge(loaded.unreadable) { $1 }
        } catch {
            // The events report it.
            for handle in work.loading { work.events.unreadable[handle] = "\(error)" }
        }
    }

    private func beginCompactionIfDue() {
        store.compactIfDue { [outcomes] in outcomes.yield(.notCompacted(reason: "\($0)")) }
    }

    /// Starts a compaction if one is due since an earlier opening.
    func compactIfDue() {
        queue.async { [self] in
            if !state.withLock({ $0.isClosed }) { beginCompactionIfDue() }
        }
    }

    /// Removes the records of a user who has signed out from the files; a failed attempt is repeated later.
    private func removeTraces() {
        do {
            try store.compact()
            state.withLock { $0.removal = nil }
        } catch {
            outcomes.yield(.notCompacted(reason: "\(error)"))
            state.withLock { $0.removal?.fail() }
        }
    }

    /// Waits until all submitted batches are written and removed records are gone from the files.
    ///
    /// - Returns: Why records could not be removed, if so.
    func settle() async -> JournalFailure? {
        await withCheckedContinuation { continuation in
            perform { [self] in
                run()
                if state.withLock({ $0.removal != nil }) { removeTraces() }
                let failure = state.withLock { state in
                    // Reported once: the next attempt stores the removal again, unless an earlier one has
                    // stored it.
                    defer { state.failure = nil }
                    return state.failure ?? state.leftTraces
                }
                continuation.resume(returning: failure)
            }
        }
    }

    /// Removes the notice of the switch to this user, because the app was notified.
    func forgetPendingSwitchNotice() {
        perform { [self] in
            if !state.withLock({ $0.isClosed }) { directory.forgetPendingSwitchNotice() }
        }
    }

    /// Writes all waiting batches, then closes the files.
    ///
    /// - Parameter keepsDirectory: Whether the engine continues in its directory with another user's state.
    func close(keepsDirectory: Bool = false) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                closeOnQueue(keepsDirectory: keepsDirectory)
                continuation.resume()
            }
        }
    }

    /// Drops queued batches, as a crash does, and accepts no more.
    func dropQueued() {
        state.withLock { state in
            state.isAbandoned = true
            state.waiting = []
        }
    }

    /// Closes the files without further writes, as a crash does.
    func abandon() async {
        dropQueued()
        if isClosed { return }
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                letGo(keepsDirectory: false)
                continuation.resume()
            }
        }
    }

    /// Closes the files of a released core in the background, so that no caller waits for the disk.
    ///
    /// The next core in this process that opens the directory waits until it is free.
    func closeUnattended() {
        directory.beginRelease()
        queue.async { [self] in
            closeOnQueue(keepsDirectory: false)
            directory.endRelease()
        }
    }

    private func closeOnQueue(keepsDirectory: Bool) {
        if isClosed { return }
        run()
        letGo(keepsDirectory: keepsDirectory)
    }

    private func letGo(keepsDirectory: Bool) {
        store.close()
        outcomes.finish()
        if !keepsDirectory { directory.release() }
    }

    /// Whether it was already closed; marks it as closed.
    private var isClosed: Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
    }
}

extension JournalBatch {
    /// Whether the batch removes records that must not stay in the files.
    fileprivate var removesRecords: Bool {
        lines.contains(.fact(.removed))
    }
}
