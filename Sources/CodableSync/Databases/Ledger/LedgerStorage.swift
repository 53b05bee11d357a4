public import RecordCoding

public import struct Foundation.Date

/// Where a server keeps a ledger: in memory, in a directory, or in a database of your own.
@_spi(Server) public protocol LedgerStorage: Sendable {
    /// Performs a request; its changes are stored when this returns.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date.
    /// - Returns: The response, and the entries that were stored.
    /// - Throws: ``CloudError``; unless its code is ``CloudError/Code-swift.enum/serverResponseLost``, the request
    ///   had no effect.
    func perform(
        _ request: LedgerRequest,
        at date: Date
    ) async throws(CloudError) -> (response: LedgerResponse, entries: [LedgerEntry])

    /// The zones that requests change, as a new stream for each access; it ends when the storage is closed.
    var changes: AsyncStream<LedgerChange> { get }

    /// Ends the work when all earlier requests have returned; later ones fail.
    func close() async
}

/// A zone that a request has changed for its user's other devices.
@_spi(Server) public struct LedgerChange: Hashable, Sendable {
    /// The user record name of the user whose database it is.
    public var user: String
    /// Which of the user's databases it is.
    public var scope: DatabaseScope
    /// The zone.
    public var zoneID: ZoneID

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - user: The user record name of the user whose database it is.
    ///   - scope: Which of the user's databases it is.
    ///   - zoneID: The zone.
    public init(user: String, scope: DatabaseScope, zoneID: ZoneID) {
        self.user = user
        self.scope = scope
        self.zoneID = zoneID
    }

    /// Nothing is dropped: a device would miss the change until its next fetch.
    static func makeHub() -> Broadcaster<LedgerChange> { Broadcaster(limit: .max, replaysLatest: false) }
}

extension Broadcaster<LedgerChange> {
    /// Sends each zone once that entries have changed.
    func send(changesIn entries: [LedgerEntry]) {
        var sent: Set<LedgerChange> = []
        for entry in entries {
            guard let zoneID = entry.changedZone else { continue }
            let change = LedgerChange(user: entry.user, scope: entry.scope, zoneID: zoneID)
            if sent.insert(change).inserted { send(change) }
        }
    }
}
