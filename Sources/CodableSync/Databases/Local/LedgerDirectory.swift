import Dispatch

public import struct Foundation.Date

/// A ledger that is kept in a directory, which several processes may use at the same time.
///
/// A request is answered when what it changed survives a loss of power. A process that is killed at any moment
/// leaves each request wholly done or wholly undone. Before a request is handled, everything that others have
/// appended until then is read, so that all who use the directory follow one history.
///
/// ```swift
/// let directory = LedgerDirectory(path: "/var/lib/records")
/// let (response, entries) = try await directory.perform(request, at: date)
/// ```
///
/// Requests that come while the disk is busy share the next write. It may be used from any task; reading and
/// writing happen on a queue of its own. The files are JSON lines that a text editor shows: `journal-1.jsonl` and,
/// once there is much to leave out, `snapshot-2.jsonl`.
public final class LedgerDirectory: Sendable {
    /// Below this size no compaction is worth its while.
    package static var compactionSize: UInt64 { 8 << 20 }

    /// Where the files are.
    public let path: String

    private let line = Locked(LedgerLine())
    private let store: LedgerStore
    private let queue: DispatchQueue
    private let clock: any SyncClock
    private let lockTimeout: Duration

    /// Names a directory; the disk is not touched before the first request.
    ///
    /// - Parameters:
    ///   - path: The directory, which is made if it is missing; nothing else should be kept in it.
    ///   - limits: What a request and a database may hold; the same for all who use the directory.
    ///   - options: What the ledger does where CloudKit's behaviour is uncertain.
    public convenience init(
        path: String,
        limits: LedgerLimits = .cloudKit,
        options: LedgerOptions = LedgerOptions()
    ) {
        self.init(path: path, limits: limits, options: options, fileSystem: LocalFileSystem())
    }

    package init(
        path: String,
        limits: LedgerLimits = .cloudKit,
        options: LedgerOptions = LedgerOptions(),
        fileSystem: any FileSystem,
        compactionSize: UInt64 = LedgerDirectory.compactionSize,
        newIdentifier: @escaping @Sendable () -> String = {
            String(UInt64.random(in: 0 ... .max), radix: 36)
        },
        newEpoch: @escaping @Sendable () -> UInt64 = { .random(in: 1 ... .max) },
        clock: any SyncClock = SystemClock(),
        lockTimeout: Duration = .seconds(20)
    ) {
        self.path = path
        self.clock = clock
        self.lockTimeout = lockTimeout
        let queue = DispatchQueue(label: "CodableSync.LedgerDirectory")
        self.queue = queue
        store = LedgerStore(
            files: LedgerFiles(path: path, fileSystem: fileSystem),
            limits: limits,
            options: options,
            compactionSize: compactionSize,
            newIdentifier: newIdentifier,
            newEpoch: newEpoch,
            queue: queue,
            clock: clock
        )
    }

    /// Handles a request: reads what others appended, decides, appends, and flushes.
    ///
    /// If another process keeps the directory's lock, the wait ends after 20 seconds, or when the task is cancelled;
    /// the request is then never performed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date.
    /// - Returns: What to answer, and what was appended.
    /// - Throws: ``LedgerDirectoryError``; unless its code is `outcomeUnknown`, nothing is done.
    public func perform(
        _ request: LedgerRequest,
        at date: Date
    ) async throws(LedgerDirectoryError) -> (response: LedgerResponse, entries: [LedgerEntry]) {
        try await wait(for: .request(request, date)).get()
    }

    /// Looks whether another connection or process has changed the ledger.
    ///
    /// It reads names and sizes only: it takes no lock, makes nothing where there is nothing, and waits for nobody but
    /// requests of this object that came before. A change may be counted that turns out to be none, such as one that
    /// was interrupted.
    ///
    /// - Returns: How many times others were found to have changed it since this object was made.
    /// - Throws: ``LedgerDirectoryError``.
    public func changesByOthers() async throws(LedgerDirectoryError) -> Int {
        if line.withLock({ $0.isClosed }) { throw LedgerDirectoryError.closed }
        let result = await withCheckedContinuation { continuation in
            // Not in the queue of requests: a look needs no lock.
            queue.async { continuation.resume(returning: self.store.look()) }
        }
        try result.get()
        return store.changesByOthers
    }

    /// How many requests wait for their turn.
    package var waitingCount: Int { line.withLock { $0.count } }

    /// Leaves out what was overwritten, whether it is worth while or not, and returns when it is done.
    package func compact() async throws(LedgerDirectoryError) {
        _ = try await wait(for: .compact).get()
    }

    /// Closes the files when all requests made until now are answered; later ones throw `closed`.
    ///
    /// Requests that wait for another process's lock get one last try, and otherwise throw `closed`. Once this returns,
    /// nothing touches the directory any more.
    public func close() async {
        line.withLock { $0.close() }?.cancel()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.async { [self] in
                while serveOnce() {}
                store.close { continuation.resume() }
            }
        }
    }
}

// MARK: - The line

extension LedgerDirectory {
    private func wait(for kind: LedgerLine.Waiting.Kind) async -> Result<LedgerAnswer, LedgerDirectoryError> {
        let id = line.withLock { $0.newID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let deadline = clock.now.monotonic + lockTimeout
                let one = LedgerLine.Waiting(id: id, kind: kind, deadline: deadline) {
                    continuation.resume(returning: $0)
                }
                switch line.withLock({ $0.add(one) }) {
                case .begin: queue.async { self.serve() }
                case .wait: break
                case .closed: one.answer(.failure(.closed))
                }
                // Cancelled before it was added: `onCancel` has not found it.
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    /// Removes a cancelled request from the line, unless it is being served already.
    private func leave(_ id: UInt64) {
        guard let (one, holder) = line.withLock({ $0.remove(id) }) else { return }
        let reason = holder.map { " It waited for \(lockHolder($0))." } ?? ""
        let message = "The request was cancelled before its turn; nothing was done.\(reason)"
        one.answer(.failure(LedgerDirectoryError(.cancelled, message: message)))
    }

    private func serve() {
        if letsOthersIn() { return pause(for: LedgerLine.yield) }
        // Looks for changes run in between.
        if serveOnce() { queue.async { self.serve() } }
    }

    /// Whether somebody who was refused the lock gets it before the next batch: they ask for it only now and then, and
    /// would never find it free.
    private func letsOthersIn() -> Bool {
        guard line.withLock({ $0.mayYield }), store.isLockWanted else {
            line.withLock { $0.endYielding() }
            return false
        }
        if line.withLock({ $0.countYield() }) { return true }
        // They ask more often than this: whoever it was has gone.
        store.forgetLockWanted()
        return false
    }

    /// Serves all who wait, with one write; returns whether there may be more of them.
    private func serveOnce() -> Bool {
        guard line.withLock({ $0.goesOn() }) else { return false }
        do {
            switch try store.lock() {
            case .acquired(let lock):
                if line.withLock({ $0.wasRefused }) { store.forgetLockWanted() }
                // Only once the lock is held: a request that left the line before is not served.
                store.serve(line.withLock { $0.takeAll() }, under: lock)
                return true
            case .held(let processID):
                store.wantLock()
                let now = clock.now.monotonic
                let (late, isClosed) = line.withLock { $0.takeLate(at: now, behind: processID) }
                for one in late { one.answer(.failure(tooLate(processID, isClosed: isClosed))) }
                if line.withLock({ $0.goesOn() }) { pause() }
                return false
            }
        } catch {
            let error = LedgerDirectoryError(error)
            for one in line.withLock({ $0.takeAll() }) { one.answer(.failure(error)) }
            return true
        }
    }

    /// Tries again soon, since a wait inside `flock` for a stopped process could not be ended.
    private func pause() {
        pause(for: line.withLock { $0.nextPause() })
    }

    private func pause(for duration: Duration) {
        let end = clock.now.monotonic + duration
        let pause = Task { [clock] in
            do {
                try await clock.sleep(until: end)
            } catch {
                // Closed: there is nothing to wait for.
            }
            queue.async { self.serve() }
        }
        line.withLock { $0.pause = pause }
    }

    private func tooLate(_ processID: Int?, isClosed: Bool) -> LedgerDirectoryError {
        let holder = lockHolder(processID)
        if isClosed {
            return LedgerDirectoryError(
                .closed,
                message: "The directory was closed while it waited for \(holder)."
            )
        }
        let seconds = lockTimeout.components.seconds
        let message =
            "\"\(path.shortenedForMessage)\" has been locked for more than \(seconds) seconds by \(holder). "
            + "Resume or end that process; the request was not performed."
        return LedgerDirectoryError(.locked, message: message)
    }

    private func lockHolder(_ processID: Int?) -> String {
        processID.map { "process \($0)" } ?? "another process"
    }
}

extension LedgerDirectoryError {
    static var closed: LedgerDirectoryError {
        LedgerDirectoryError(.closed, message: "The directory was closed. Make a new connection.")
    }
}
