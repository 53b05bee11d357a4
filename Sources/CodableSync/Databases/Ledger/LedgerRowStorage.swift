public import struct Foundation.Date

/// A storage that loads for each request only the rows that the rules ask for, such as a server's SQL database.
///
/// Implement ``load(_:for:)`` and ``commit(_:for:)``, `changes` and `close()`; ``perform(_:at:)`` is provided. Several
/// processes may share one storage: a request whose heads were changed meanwhile by another one begins again.
///
/// ```swift
/// func commit(_ commit: LedgerCommit, for request: LedgerRequest) async throws(CloudError) -> Bool {
///     try await transaction { database in
///         for (key, value) in commit.expecting {
///             guard try await database.value(of: key, for: request) == value else { return false }
///         }
///         for update in commit.updates { try await database.write(update, for: request) }
///         return true
///     }
/// }
/// ```
@_spi(Server) public protocol LedgerRowStorage: LedgerStorage {
    /// The rules, as an empty ledger with the storage's identifier.
    var rules: CloudLedger { get }

    /// The random number of the history, the same for all processes that share the storage.
    ///
    /// Draw a new one after restoring a backup only: devices may know changes that are lost, and each head keeps the
    /// numbers.
    var epoch: UInt64 { get }

    /// Loads values.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - request: The request, whose user and scope are those of the database.
    /// - Returns: A value for each key, of the case that the key names. Further values save steps, such as those of the
    ///   holders of a record that is deleted.
    /// - Throws: ``CloudError``; the request had no effect.
    func load(
        _ keys: Set<LedgerKey>,
        for request: LedgerRequest
    ) async throws(CloudError) -> [LedgerKey: LedgerValue]

    /// Writes the updates, all or nothing, if the keys still have the expected values.
    ///
    /// - Parameters:
    ///   - commit: What to write and to expect.
    ///   - request: The request, whose user and scope are those of the database.
    /// - Returns: Whether it was written; `false` if a value differs, so that the request begins again.
    /// - Throws: ``CloudError``; unless its code is ``CloudError/Code-swift.enum/serverResponseLost``, nothing was written.
    func commit(_ commit: LedgerCommit, for request: LedgerRequest) async throws(CloudError) -> Bool
}

@_spi(Server) extension LedgerRowStorage {
    /// Performs a request; its changes are stored when this returns.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date.
    /// - Returns: The response, and the entries that were stored.
    /// - Throws: ``CloudError``; unless its code is ``CloudError/Code-swift.enum/serverResponseLost``, the request
    ///   had no effect.
    public func perform(
        _ request: LedgerRequest,
        at date: Date
    ) async throws(CloudError) -> (response: LedgerResponse, entries: [LedgerEntry]) {
        var values: [LedgerKey: LedgerValue] = [:]
        while true {
            switch rules.handle(request, at: date, epoch: epoch, reading: values) {
            case .load(let keys):
                let loaded = try await load(keys, for: request)
                guard keys.allSatisfy({ values[$0] == nil && loaded[$0] != nil }) else {
                    let message =
                        "The storage did not load what it was asked for, or something of another kind."
                    throw CloudError(.internalError, message: message)
                }
                values.merge(loaded) { known, _ in known }
            case .commit(let commit):
                if try await self.commit(commit, for: request) { return (commit.response, commit.entries) }
                values = [:]
            }
        }
    }
}
