import Dispatch
import RecordCoding

/// The lane to the disk: strictly in order, one write and one flush for all that has gathered.
///
/// Files are written on a queue of its own, so that a slow disk holds up no task but those that wait for it.
final class JournalLane: Sendable {
    /// What became of a batch, or of the files.
    enum Outcome: Sendable {
        case stored(BatchID)
        case failed(BatchID, JournalFailure)
        /// The files could not be made smaller.
        case notCompacted(reason: String)
        /// Everything handed in up to this mark is done.
        case atRest(UInt64)
    }

    private struct State {
        var waiting: [JournalBatch] = []
        /// The contents of batches that are not stored yet.
        var unstored: [ContentHandle: Record] = [:]
        var isRunning = false
        var isClosed = false
        /// Nothing more is taken or written, but for what is being written.
        var isAbandoned = false
        /// Why the last write failed.
        ///
        /// Later batches fail for the same reason until ``JournalLane/resume()``: they rest on entries that are not stored.
        var refusal: JournalFailure?
        /// Counts what was handed in.
        var mark: UInt64 = 0
        /// How many pieces of work are queued or running.
        var jobs = 0
        /// Records were removed, and are still in the files.
        var removal: Removal?
        /// Why records could not be removed, if they could not.
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

    /// When to try again to remove records from the files: after 1, 2, 4, 8 … 1024 writes.
    ///
    /// A try costs as much as the files hold, so it must not come with each write.
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
    ///   - outcomes: Is told what became of each batch, in order, and of compactions that fail.
    ///   - directory: The engine's directory, let go of once the files are closed.
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

    /// Runs work in the queue, and reports when none is left.
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

    /// Counts what was handed in; an outcome reports when it is done.
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
            // Reads may show refused contents until the machine has processed the refusal.
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
    /// - Returns: Why none of them is stored, if so.
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

    /// Begins a compaction if earlier openings have left one due.
    func compactIfDue() {
        queue.async { [self] in
            if !state.withLock({ $0.isClosed }) { beginCompactionIfDue() }
        }
    }

    /// The records of a user who has signed out leave the files at once; what fails is tried again.
    private func removeTraces() {
        do {
            try store.compact()
            state.withLock { $0.removal = nil }
        } catch {
            outcomes.yield(.notCompacted(reason: "\(error)"))
            state.withLock { $0.removal?.fail() }
        }
    }

    /// Waits until everything that was handed in is written, and what was to be removed is gone from the files.
    ///
    /// - Returns: Why records could not be removed that were to be, if they could not.
    func settle() async -> JournalFailure? {
        await withCheckedContinuation { continuation in
            perform { [self] in
                run()
                if state.withLock({ $0.removal != nil }) { removeTraces() }
                let failure = state.withLock { state in
                    // Told once: the next try stores the removal anew, unless an earlier one has stored it.
                    defer { state.failure = nil }
                    return state.failure ?? state.leftTraces
                }
                continuation.resume(returning: failure)
            }
        }
    }

    /// The app was told of the switch that led to this user.
    func forgetUntoldSwitch() {
        perform { [self] in
            if !state.withLock({ $0.isClosed }) { directory.forgetUntoldSwitch() }
        }
    }

    /// Writes what has gathered, then lets go of the files.
    ///
    /// - Parameter keepsDirectory: Whether the engine goes on in its directory, with another user's state.
    func close(keepsDirectory: Bool = false) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                closeOnQueue(keepsDirectory: keepsDirectory)
                continuation.resume()
            }
        }
    }

    /// Drops what is queued, as a crash does, and takes nothing more.
    func dropQueued() {
        state.withLock { state in
            state.isAbandoned = true
            state.waiting = []
        }
    }

    /// Releases the files as they are, as a crash does.
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
    /// The next engine of this process that opens the directory waits until it is free.
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

    /// Whether this is not the first to close.
    private var isClosed: Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
    }

    /// Reads contents, beside the actor's thread; those on their way to the disk, too.
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
    /// Whether it takes records out of the state that must not stay in the files.
    fileprivate var removesRecords: Bool {
        entries.contains { if case .signedOut(removing: true) = $0 { true } else { false } }
    }
}
