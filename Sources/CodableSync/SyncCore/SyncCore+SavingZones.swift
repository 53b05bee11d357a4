import RecordCoding

/// Requests that create zones, and replace one whose records can no longer be read.
extension SyncCore {
    func saveZone(_ request: RequestID, mark: UInt64?) {
        let zoneID = zoneID
        perform(request) { connection in
            if let mark, try await Self.isUnreadable(zoneID, in: connection) {
                // Deleting and saving take two requests, since a request can name a zone only once. The
                // request that deletes the zone also creates the mark, so that devices that see the deletion
                // in the feed see the mark.
                try await Self.delete(zoneID, leaving: zoneID.replacementMark(mark), in: connection)
            }
            let result = try await connection.database.modifyRecordZones(
                saving: [RecordZone(zoneID: zoneID)],
                deleting: []
            )
            let outcome = result.saveResults[zoneID] ?? .failure(.unmentioned("the zone"))
            _ = try outcome.get()
        } then: { core, result in
            core.process(.response(request, result.map { .zoneSaved }))
        }
    }

    private static func delete(
        _ zoneID: ZoneID,
        leaving mark: ZoneID,
        in connection: AccountConnection
    ) async throws {
        do {
            try await modify(saving: mark, deleting: zoneID, in: connection)
        } catch let error as CloudError where error.code == .limitExceeded {
            // A database that takes one item in a request gets the mark first, so that it is there in any case.
            try await modify(saving: mark, deleting: nil, in: connection)
            try await modify(saving: nil, deleting: zoneID, in: connection)
        }
    }

    private static func modify(
        saving mark: ZoneID?,
        deleting zoneID: ZoneID?,
        in connection: AccountConnection
    ) async throws {
        let result = try await connection.database.modifyRecordZones(
            saving: mark.map { [RecordZone(zoneID: $0)] } ?? [],
            deleting: zoneID.map { [$0] } ?? []
        )
        if let zoneID, let error = result.deleteResults[zoneID] ?? nil, error.code != .zoneNotFound {
            throw error
        }
        if let mark {
            _ = try (result.saveResults[mark] ?? .failure(.unmentioned("the mark of a replaced zone"))).get()
        }
    }

    /// Whether the zone's records are still unreadable; another device may have recreated the zone in the
    /// meantime.
    private static func isUnreadable(
        _ zoneID: ZoneID,
        in connection: AccountConnection
    ) async throws -> Bool {
        let zones = try await connection.database.recordZones(for: [zoneID])
        guard case .failure(let error)? = zones[zoneID] else { return false }
        switch error.recovery {
        case .uploadEverything: return true
        case .recreateZone: return false
        default: throw error
        }
    }
}
