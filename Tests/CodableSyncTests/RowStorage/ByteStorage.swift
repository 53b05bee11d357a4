import Foundation

@_spi(Server) @testable import CodableSync

/// The bytes that several storages share, as the processes of a server share a database.
final class SharedBytes: Sendable {
    let rows = Locked(RowBytes())
}

/// A ledger as bytes under string keys, of which each request loads only the rows that the rules ask for.
final class ByteStorage: LedgerRowStorage {
    private struct State {
        var isClosed = false
        /// How many heads, entries and names the rules got, how often, and how many requests began again.
        var loaded = 0
        var steps = 0
        var conflicts = 0
        var beforeCommit: (@Sendable () async throws(CloudError) -> Void)?
    }

    let rules: CloudLedger
    let epoch: UInt64 = 1
    private let bytes: SharedBytes
    private let state = Locked(State())
    private let hub = LedgerChange.makeHub()

    init(_ rules: CloudLedger, _ bytes: SharedBytes = SharedBytes()) {
        self.rules = rules
        self.bytes = bytes
    }

    /// How many heads, entries and names the rules got.
    var loaded: Int { state.withLock { $0.loaded } }
    /// How often rows were loaded.
    var steps: Int { state.withLock { $0.steps } }
    /// How many requests began again.
    var conflicts: Int { state.withLock { $0.conflicts } }
    /// How many values were read from the bytes.
    var reads: Int { bytes.rows.withLock { $0.reads } }

    /// Does something once, before the next commit.
    func beforeCommit(_ body: @escaping @Sendable () async throws(CloudError) -> Void) {
        state.withLock { $0.beforeCommit = body }
    }

    func load(
        _ keys: Set<LedgerKey>,
        for request: LedgerRequest
    ) async throws(CloudError) -> [LedgerKey: LedgerValue] {
        if state.withLock({ $0.isClosed }) {
            throw CloudError(.serviceUnavailable, message: "The storage is closed.")
        }
        let values = try inRows(request) { database, rows in
            Dictionary(uniqueKeysWithValues: try keys.map { ($0, try database.value(of: $0, in: &rows)) })
        }
        state.withLock { state in
            state.steps += 1
            for value in values.values { state.loaded += value.size }
        }
        // Others may run between the steps.
        await Task.yield()
        return values
    }

    func commit(_ commit: LedgerCommit, for request: LedgerRequest) async throws(CloudError) -> Bool {
        let beforeCommit = state.withLock { state in
            defer { state.beforeCommit = nil }
            return state.beforeCommit
        }
        try await beforeCommit?()
        let isCommitted = try inRows(request) { database, rows in
            for (key, value) in commit.expecting {
                guard try database.value(of: key, in: &rows) == value else { return false }
            }
            for update in commit.updates { try database.write(update, in: &rows) }
            return true
        }
        guard isCommitted else {
            state.withLock { $0.conflicts += 1 }
            return false
        }
        hub.send(changesIn: commit.entries)
        return true
    }

    private func inRows<Value>(
        _ request: LedgerRequest,
        _ body: (ByteDatabase, inout RowBytes) throws -> Value
    ) throws(CloudError) -> Value {
        do {
            return try bytes.rows.withLock {
                try body(ByteDatabase(user: request.user, scope: request.scope), &$0)
            }
        } catch {
            throw CloudError(.internalError, message: "\(error)")
        }
    }

    var changes: AsyncStream<LedgerChange> { hub.stream {} }

    func close() async {
        state.withLock { $0.isClosed = true }
        hub.finish()
    }
}

extension LedgerValue {
    /// How many rows a database would read for it.
    fileprivate var size: Int {
        switch self {
        case .head, .count: 1
        case .zones(let heads): heads.count
        case .entries(let entries): entries.count
        case .names(let names): names.count
        }
    }
}
