public import struct Foundation.Date

/// What a storage does next for a request.
@_spi(Server) public enum LedgerStep: Equatable, Sendable {
    /// Load the values of these keys too, and ask again with all values.
    case load(Set<LedgerKey>)
    /// Store this, and send its response.
    case commit(LedgerCommit)
}

/// The response to a request, and what a storage writes before it is sent, all or nothing.
@_spi(Server) public struct LedgerCommit: Equatable, Sendable {
    /// The response.
    public let response: LedgerResponse
    /// The changes; none for a request that changed nothing.
    public let entries: [LedgerEntry]
    /// What to write, in this order; none if there are no changes.
    public let updates: [LedgerUpdate]
    /// The values that these keys must still have when the updates are written: the head of the database, and the types
    /// of fields.
    ///
    /// If others have changed one meanwhile, nothing is written, and the request begins again without any
    /// value. That holds for requests without updates too, unless all values were read at one moment.
    public let expecting: [LedgerKey: LedgerValue]
}

@_spi(Server) extension CloudLedger {
    /// Answers a request to a database that a storage holds, without a look at this ledger's own contents.
    ///
    /// The first step needs no values: it returns keys. The result depends on the arguments only.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date; modification dates never go back even if it does.
    ///   - epoch: The random number of the current epoch, as in ``handle(_:at:epoch:)``.
    ///   - values: All values that were loaded for this request, and any others.
    /// - Returns: The keys whose values are missing, or the response and what to write.
    public func handle(
        _ request: LedgerRequest,
        at date: Date,
        epoch: UInt64? = nil,
        reading values: [LedgerKey: LedgerValue]
    ) -> LedgerStep {
        let rows = LoadedRows(values)
        let (response, entries) = handle(request, at: date, epoch: epoch, reading: rows)
        let updates = rows.updates(for: entries)
        guard rows.missing.isEmpty else { return .load(rows.missing) }
        let expecting = values.filter { key, _ in
            switch key {
            case .head, .fieldTypes: true
            // The head's revision stands for everything else of the database.
            case .zone, .zones, .zonesChanged, .record, .page, .holders, .childCount, .subscription,
                .subscriptions:
                false
            }
        }
        return .commit(
            LedgerCommit(response: response, entries: entries, updates: updates, expecting: expecting)
        )
    }

    func handle(
        _ request: LedgerRequest,
        at date: Date,
        epoch: UInt64?,
        reading rows: any LedgerRows
    ) -> (response: LedgerResponse, entries: [LedgerEntry]) {
        var draft = LedgerDraft(of: self, reading: rows, for: request, at: date, epoch: epoch)
        do throws(CloudError) {
            let response = try draft.perform(request.operation)
            return (response, draft.beginningOfEpoch + draft.entries)
        } catch {
            return (.failure(error), [])
        }
    }
}
