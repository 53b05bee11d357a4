public import struct Foundation.Date

/// A ledger in memory, for tests and for servers that keep nothing.
@_spi(Server) public final class LedgerMemory: LedgerStorage {
    private struct State {
        var ledger: CloudLedger
        var isClosed = false
    }

    private let state: Locked<State>
    private let epoch: UInt64
    private let hub = LedgerChange.makeHub()

    /// Creates a storage.
    ///
    /// - Parameters:
    ///   - ledger: The ledger to begin with.
    ///   - epoch: A random number, by which tokens and tags of an earlier storage are recognized.
    public init(_ ledger: CloudLedger, epoch: UInt64 = .random(in: 1 ... .max)) {
        state = Locked(State(ledger: ledger))
        self.epoch = epoch
    }

    /// Performs a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date.
    /// - Returns: The response, and the entries that were applied.
    /// - Throws: ``CloudError`` after ``close()``.
    public func perform(
        _ request: LedgerRequest,
        at date: Date
    ) async throws(CloudError) -> (response: LedgerResponse, entries: [LedgerEntry]) {
        let answer = try state.withLock { state throws(CloudError) in
            if state.isClosed { throw CloudError(.serviceUnavailable, message: "The storage is closed.") }
            let answer = state.ledger.handle(request, at: date, epoch: epoch)
            for entry in answer.entries { state.ledger.apply(entry) }
            return answer
        }
        hub.send(changesIn: answer.entries)
        return answer
    }

    /// The zones that requests change, as a new stream for each access.
    public var changes: AsyncStream<LedgerChange> { hub.stream {} }

    /// Refuses all later requests, and ends the streams.
    public func close() async {
        state.withLock { $0.isClosed = true }
        hub.finish()
    }
}
