import Dispatch
import RecordCoding

/// Writes batches to the journal strictly in order, with one write and one flush for all that are waiting.
///
/// Files are written on a dispatch queue of its own, so that a slow disk blocks only the tasks that wait for
/// it.
final class JournalLane: Sendable {
    /// The outcome of a batch or of work on the files.
    enum Outcome: Sendable {
        case stored(BatchID)
        case failed(BatchID, JournalFailure)
        /// The files could not be compacted.
        case notCompacted(reason: String)
        /// All work submitted up to this mark is done.
        case atRest(UInt64)
    }

    private struct State {
        var waiting: [JournalBatch] = []
        /// The contents of batches that are not stored yet.
        var unstored: [ContentHandle: Record] = [:]
        var isRunning = false
        var isClosed = false
        /// Whether no more batches are accepted or written, except for a write in progress.
        var isAbandoned = false
        /// Why the last write failed.
        ///
        /// Until ``JournalLane/resume()``, later batches fail for the same reason, since they depend on
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

        mutating func forgetContents(of batches: [JournalBatch]) {
            for batch in batches { for handle in batch.contents.keys { unstored[handle] = nil } }
        }

        var leftTraces: JournalFailure? {
            removal == nil
                ? nil
                : .unreadable("The records of the user who has left cannot be removed from the files now.")
        }
    }

    /// When to retry removing records from the files: after 1, 2, 4, 8 … 1024 writes.
    ///
    /// An attempt rewrites all files, so it must not run after every write.
    private struct Removal {
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

    private let state = Locked(State())
    private let store: any StateStore
    private let queue = DispatchQueue(label: "CodableSync.journal")
    private let outcomes: AsyncStream<Outcome>.Continuation
    private let directory: StateDirectory

    /// Makes a lane.
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

    func append(_ batch: JournalBatch) {
        let mustRun = state.withLock { state -> Bool in
            if state.isClosed || state.isAbandoned { return false }
            state.mark += 1
            state.waiting.append(batch)
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
            if state.waiting.contains(where: \.removesRecords) { state.failure = state.refusal }
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
            let (batches, refusal) = state.withLock { state -> ([JournalBatch], JournalFailure?) in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isRunning = false }
                return (state.waiting, state.refusal)
            }
            if batches.isEmpty { return }
            let failure = refusal ?? write(batches)
            // Reads may show refused contents until the machine has processed the failure.
            if failure == nil { state.withLock { $0.forgetContents(of: batches) } }
            for batch in batches {
                outcomes.yield(failure.map { .failed(batch.batch, $0) } ?? .stored(batch.batch))
            }
            let isRemovalDue = state.withLock { state -> Bool in
                if batches.contains(where: \.removesRecords) {
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

    /// Closes the files as they are, as a crash does.
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

    /// Closes the files of a released engine in the background, so that no caller waits for the disk.
    ///
    /// The next engine in this process that opens the directory waits until it is free.
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

    /// Whether the lane was already closed; marks it as closed.
    private var isClosed: Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
    }

    /// Reads contents, including those that are not stored yet; blocks while it reads files.
    func load(_ handles: [ContentHandle]) throws -> StoredContents {
        let unstored = state.withLock { state in
            handles.reduce(into: [ContentHandle: Record]()) { $0[$1] = state.unstored[$1] }
        }
        if unstored.isEmpty { return try store.load(handles) }
        var contents = try store.load(handles.filter { unstored[$0] == nil })
        contents.records.merge(unstored) { $1 }
        return contents
    }
}

extension JournalBatch {
    /// Whether the batch removes records that must not stay in the files.
    fileprivate var removesRecords: Bool {
        entries.contains { if case .account(.signedOut(removing: true)) = $0 { true } else { false } }
    }
}
