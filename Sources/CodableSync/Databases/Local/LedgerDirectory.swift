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

    /// A request that waits for its turn.
    struct Waiting: Sendable {
        enum Kind: Sendable {
            case request(LedgerRequest, Date)
            /// Only looks whether others did something.
            case look
            case compact
        }
        var kind: Kind
        var answer: @Sendable (Result<Answer, LedgerDirectoryError>) -> Void
    }

    /// What comes of a request.
    typealias Answer = (response: LedgerResponse, entries: [LedgerEntry])

    private struct Line: Sendable {
        var waiting: [Waiting] = []
        var isServed = false
        var isClosed = false
    }

    private let line = Locked(Line())
    private let store: LedgerStore
    private let queue: DispatchQueue

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
        newIdentifier: @escaping @Sendable () -> String = { String(UInt64.random(in: 0 ... .max), radix: 36) }
    ) {
        self.path = path
        let queue = DispatchQueue(label: "CodableSync.LedgerDirectory")
        self.queue = queue
        store = LedgerStore(
            files: LedgerFiles(path: path, fileSystem: fileSystem),
            limits: limits,
            options: options,
            compactionSize: compactionSize,
            newIdentifier: newIdentifier,
            queue: queue
        )
    }

    /// Handles a request: reads what others appended, decides, appends, and flushes.
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
        _ = try await wait(for: .look).get()
        return store.changesByOthers
    }

    /// How many requests wait for their turn.
    package var waitingCount: Int { line.withLock { $0.waiting.count } }

    /// Leaves out what was overwritten, whether it is worth while or not, and returns when it is done.
    package func compact() async throws(LedgerDirectoryError) {
        _ = try await wait(for: .compact).get()
    }

    /// Closes the files when all requests made until now are answered; later ones throw `closed`.
    ///
    /// When it returns, nothing touches the directory any more.
    public func close() async {
        line.withLock { $0.isClosed = true }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.async { [self] in
                // Somebody may stand in line whose turn has not come yet.
                serve()
                store.close { continuation.resume() }
            }
        }
    }

    private func wait(for kind: Waiting.Kind) async -> Result<Answer, LedgerDirectoryError> {
        await withCheckedContinuation { continuation in
            let isStarting = line.withLock { line -> Bool? in
                guard !line.isClosed else { return nil }
                line.waiting.append(Waiting(kind: kind) { continuation.resume(returning: $0) })
                defer { line.isServed = true }
                return !line.isServed
            }
            switch isStarting {
            case true?: queue.async { self.serve() }
            case false?: break
            case nil:
                let message = "The directory was closed. Make a new connection."
                continuation.resume(returning: .failure(LedgerDirectoryError(.closed, message: message)))
            }
        }
    }

    /// Serves all who wait, as often as there are any: those who come meanwhile share the next write.
    private func serve() {
        while true {
            let waiting = line.withLock { line in
                defer { line.waiting = [] }
                line.isServed = !line.waiting.isEmpty
                return line.waiting
            }
            if waiting.isEmpty { return }
            store.serve(waiting)
        }
    }
}
