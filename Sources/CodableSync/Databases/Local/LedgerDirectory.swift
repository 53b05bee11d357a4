import Dispatch

public import struct Foundation.Date
import class Foundation.Thread

/// A ledger in a directory that several processes can use at the same time.
///
/// A request returns once its changes are durable. If a process is killed at any moment, each of its requests is
/// either complete or has had no effect. Before each request, the directory reads what other processes have
/// appended, so they all share one history.
///
/// ```swift
/// let directory = LedgerDirectory(path: "/var/lib/records")
/// let (response, entries) = try await directory.perform(request, at: date)
/// ```
///
/// Requests that arrive while the disk is busy share the next write. You can use the directory from any task;
/// it reads and writes on its own dispatch queue. The files are JSON lines, readable in a text editor:
/// `journal-1.jsonl` and, after a compaction, `snapshot-2.jsonl`.
@_spi(Server) public final class LedgerDirectory: LedgerStorage {
    /// The minimum size for a compaction.
    package static var compactionSize: UInt64 { 8 << 20 }

    /// The path of the directory.
    public let path: String

    let line = Locked(LedgerLine())
    let changeHub = LedgerChange.makeHub()
    let store: LedgerStore
    let clock: any SyncClock
    let lockTimeout: Duration
    private let queue: DispatchQueue

    /// Creates a connection to a directory; the disk is not accessed before its first use.
    ///
    /// - Parameters:
    ///   - path: The directory, which is created if it is missing; keep nothing else in it.
    ///   - limits: The limits of a request and a database; they must be the same for all processes.
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

    /// Performs a request: reads what other processes have appended, then appends the request's entries and flushes
    /// them.
    ///
    /// If another process holds the directory's lock for 20 seconds, or the task is cancelled while it waits, the
    /// request is not performed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date.
    /// - Returns: The response, and the entries that were appended.
    /// - Throws: ``CloudError``; unless its code is ``CloudError/Code-swift.enum/serverResponseLost``, the request had no effect.
    public func perform(
        _ request: LedgerRequest,
        at date: Date
    ) async throws(CloudError) -> (response: LedgerResponse, entries: [LedgerEntry]) {
        let answer = try await wait(for: .request(request, date)).get()
        changeHub.send(changesIn: answer.entries)
        return answer
    }

    /// The zones that this object's requests change, as a new stream for each access; other processes' changes are
    /// not among them.
    public var changes: AsyncStream<LedgerChange> { changeHub.stream {} }

    /// Checks whether another connection or process has changed the ledger.
    ///
    /// The call reads only names and sizes of files. It takes no lock, creates no files, and waits only for
    /// earlier requests of this object. It may count a change that had no effect, such as an interrupted one.
    ///
    /// - Returns: How many changes by others were found since this object was created.
    /// - Throws: ``CloudError``.
    public func changesByOthers() async throws(CloudError) -> Int {
        if line.withLock({ $0.isClosed }) { throw CloudError.directoryClosed }
        return try await withCheckedContinuation { continuation in
            // Not part of the line of requests, since a look needs no lock.
            queue.async { continuation.resume(returning: self.store.look()) }
        }.get()
    }

    /// The identity of the cloud in the directory, which stays the same when the directory is moved, copied, or
    /// restored from a backup.
    ///
    /// An empty or missing directory becomes a cloud with a random identity. The call blocks: usually for as long as it
    /// takes to read a small file, and while another process makes the cloud.
    ///
    /// - Returns: The identity.
    /// - Throws: ``CloudError``.
    package func identity() throws(CloudError) -> String {
        var attempts = lockTimeout.components.seconds * 1000
        while true {
            let found = queue.sync {
                // Closing is a block of this queue, too, so it does not come in between.
                Result { try store.identify(isClosed: line.withLock { $0.isClosed }) }
            }
            switch found {
            case .success(.known(let identity)): return identity
            case .success(.waiting(let processID)):
                attempts -= 1
                if attempts <= 0 { throw tooLate(processID, isClosed: false) }
                Thread.sleep(forTimeInterval: 0.001)
            case .failure(let error): throw CloudError(ofFiles: error)
            }
        }
    }

    /// Compacts the files regardless of their size, and returns when the compaction is done.
    package func compact() async throws(CloudError) {
        _ = try await wait(for: .compact).get()
    }

    /// Closes the files when all earlier requests have returned; later ones fail.
    ///
    /// Requests that wait for another process's lock are tried once more, and fail if that fails. Once this
    /// returns, this object no longer accesses the directory.
    public func close() async {
        changeHub.finish()
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
    private func wait(for kind: LedgerLine.Waiting.Kind) async -> Result<LedgerAnswer, CloudError> {
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
                case .closed: one.answer(.failure(.directoryClosed))
                }
                // The task was cancelled before the request was added, so `onCancel` did not find it.
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    /// Removes a cancelled request from the line, unless it is already being performed.
    private func leave(_ id: UInt64) {
        guard let (one, holder) = line.withLock({ $0.remove(id) }) else { return }
        let reason = holder.map { " It waited for \(lockHolder($0))." } ?? ""
        let message = "The request was cancelled before its turn; nothing was done.\(reason)"
        one.answer(.failure(CloudError(.operationCancelled, message: message)))
    }

    private func serve() {
        if letsOthersIn() { return pause(for: LedgerLine.yield) }
        // Lets checks for changes run in between.
        if serveOnce() { queue.async { self.serve() } }
    }

    /// Whether to let another process take the lock before the next batch.
    ///
    /// A waiting process polls the lock, and might otherwise never find it free.
    private func letsOthersIn() -> Bool {
        guard line.withLock({ $0.mayYield }), store.files.isLockWanted else {
            line.withLock { $0.endYielding() }
            return false
        }
        if line.withLock({ $0.countYield() }) { return true }
        // A waiting process tries more often than this, so the one that asked is gone.
        store.files.forgetLockWanted()
        return false
    }

    /// Performs all waiting requests with one write; returns whether there may be more.
    private func serveOnce() -> Bool {
        guard line.withLock({ $0.keepsServing() }) else { return false }
        do {
            switch try store.lock() {
            case .acquired(let lock):
                if line.withLock({ $0.wasRefused }) { store.files.forgetLockWanted() }
                // Taken only while the lock is held, so that a request that left the line before is not
                // performed.
                store.serve(line.withLock { $0.takeAll() }, under: lock)
                return true
            case .held(let processID):
                store.files.wantLock()
                let now = clock.now.monotonic
                let (late, isClosed) = line.withLock { $0.takeLate(at: now, behind: processID) }
                for one in late { one.answer(.failure(tooLate(processID, isClosed: isClosed))) }
                // A blocking `flock` could not be interrupted if the other process is stopped.
                if line.withLock({ $0.keepsServing() }) { pause(for: line.withLock { $0.nextPause() }) }
                return false
            }
        } catch {
            let error = CloudError(ofFiles: error)
            for one in line.withLock({ $0.takeAll() }) { one.answer(.failure(error)) }
            return true
        }
    }

    /// Goes on after a pause.
    private func pause(for duration: Duration) {
        let end = clock.now.monotonic + duration
        let pause = Task { [clock] in
            do {
                try await clock.sleep(until: end)
            } catch {
                // The directory was closed, so there is nothing to wait for.
            }
            queue.async { self.serve() }
        }
        line.withLock { $0.pause = pause }
    }

    private func tooLate(_ processID: Int?, isClosed: Bool) -> CloudError {
        let holder = lockHolder(processID)
        if isClosed {
            return CloudError(
                .badDatabase,
                message: "The directory was closed while it waited for \(holder)."
            )
        }
        let seconds = lockTimeout.components.seconds
        let message =
            "\"\(path.shortenedForMessage)\" has been locked for more than \(seconds) seconds by \(holder). "
            + "Resume or end that process; the request was not performed."
        return CloudError(.serviceUnavailable, message: message)
    }

    /// What holds a lock, for messages.
    func lockHolder(_ processID: Int?) -> String {
        processID.map { "process \($0)" } ?? "another process"
    }
}
