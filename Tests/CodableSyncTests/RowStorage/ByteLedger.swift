import Foundation

@_spi(Server) @testable import CodableSync

/// A ledger as bytes, which answers a request from the rows that the rules ask for, without waiting.
struct ByteLedger: Sendable {
    private(set) var rows = RowBytes()

    /// Performs a request.
    ///
    /// - Returns: What was written, with the response.
    mutating func perform(
        _ request: LedgerRequest,
        at date: Date,
        epoch: UInt64?,
        by rules: CloudLedger
    ) throws -> LedgerCommit {
        let database = ByteDatabase(user: request.user, scope: request.scope)
        var values: [LedgerKey: LedgerValue] = [:]
        while true {
            switch rules.handle(request, at: date, epoch: epoch, reading: values) {
            case .load(let keys):
                for key in keys { values[key] = try database.value(of: key, in: &rows) }
            case .commit(let commit):
                for update in commit.updates { try database.write(update, in: &rows) }
                return commit
            }
        }
    }

    /// The rows of a ledger, written entry by entry.
    init(_ ledger: CloudLedger) throws {
        for entry in ledger.snapshotEntries() {
            let database = ByteDatabase(user: entry.user, scope: entry.scope)
            var values: [LedgerKey: LedgerValue] = [:]
            while true {
                let loaded = LoadedRows(values)
                let updates = loaded.updates(for: [entry])
                if loaded.missing.isEmpty {
                    for update in updates { try database.write(update, in: &rows) }
                    break
                }
                for key in loaded.missing { values[key] = try database.value(of: key, in: &rows) }
            }
        }
    }

    /// An empty ledger.
    init() {}
}
