import Dispatch
import RecordCoding

/// The lane to the disk: strictly in order, one write and one flush for all that has gathered.
///
/// Files are written on a queue of its own, so that a slow disk holds up no task but those that wait for it.
final class JournalLane: Sendable {
    /// What became of a batch.
    struct Outcome: Sendable {
        var batch: BatchID
        var failure: JournalFailure?
    }

    private struct State {
        var waiting: [JournalBatch] = []
        var isRunning = false
        var isClosed = false
    }

    private let state = Locked(State())
    private let store: any StateStore
    private let queue = DispatchQueue(label: "CodableSync.journal")
    private let outcomes: AsyncStream<Outcome>.Continuation
    private let didClose: @Sendable () -> Void

    /// Makes a lane.
    ///
    /// - Parameters:
    ///   - store: Where the journal is.
    ///   - outcomes: Is told what became of each batch, in order.
    ///   - didClose: Called once the files are closed.
    init(
        store: any StateStore,
        outcomes: AsyncStream<Outcome>.Continuation,
        didClose: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.outcomes = outcomes
        self.didClose = didClose
    }

    func append(_ batch: JournalBatch) {
        let mustRun = state.withLock { state -> Bool in
            if state.isClosed { return false }
            state.waiting.append(batch)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustRun { queue.async { [self] in run() } }
    }

    private func run() {
        while true {
            let batches = state.withLock { state -> [JournalBatch] in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isRunning = false }
                return state.waiting
            }
            if batches.isEmpty { return }
            var failure: JournalFailure?
            do {
                try store.append(batches)
            } catch let error as JournalFailure {
                failure = error
            } catch {
                failure = .unreadable("\(error)")
            }
            for batch in batches {
                outcomes.yield(Outcome(batch: batch.batch, failure: failure))
            }
            store.compactIfDue()
        }
    }

    /// Writes what has gathered, then lets go of the files.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                closeOnQueue()
                continuation.resume()
            }
        }
    }

    /// The same for an engine that is released: once it is gone, its directory is free.
    func closeAndWait() {
        queue.sync { closeOnQueue() }
    }

    private func closeOnQueue() {
        if isClosed { return }
        run()
        store.close()
        outcomes.finish()
        didClose()
    }

    /// Whether this is not the first to close.
    private var isClosed: Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
    }

    /// Reads contents, beside the actor's thread.
    func load(_ handles: [ContentHandle]) throws -> [ContentHandle: Record] {
        try store.load(handles)
    }
}
