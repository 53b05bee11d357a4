import XCTest

@_spi(Server) @testable import CodableSync

/// Scenarios about lost zones, on the fake; a subclass runs a few of them on the local database.
class ZoneScenario: EngineScenario {
    /// How a test removes the zone.
    enum Loss: String, CaseIterable {
        case deleted, purged, encryptedDataReset
        /// The zone is missing, and the database's feed does not give a reason.
        case unexplained

        /// Whether all known records are uploaded again.
        var isUploadedAgain: Bool { self == .encryptedDataReset || self == .unexplained }
    }

    let zoneID = ZoneID(zoneName: "Item")
    private var act: ((LedgerRequest.Operation) async throws -> Void)?

    /// Whether the scenarios run on the local database.
    var isLocal: Bool { false }

    override func makeCloud() throws -> any TestCloud {
        let clock = clock
        if isLocal {
            let directory = try TemporaryDirectory()
            addTeardownBlock { try directory.remove() }
            let ledger = LedgerDirectory(path: directory.url.path)
            act = { operation in
                let request = LedgerRequest(user: "alice", operation: operation)
                let response = try await ledger.perform(request, at: clock.now.wall).response
                if case .failure(let error) = response { throw error }
            }
            return LocalTestCloud(directory: directory.url, clock: clock)
        }
        let cloud = FakeCloud(clock: clock)
        act = { _ = try cloud.perform($0, user: "alice") }
        return FakeTestCloud(cloud: cloud)
    }

    /// Removes the zone; without a reason, hides it from these devices.
    func remove(_ loss: Loss, hidingItFrom devices: ScriptedDatabase...) async throws {
        if loss == .unexplained { for device in devices { device.hideReasons() } }
        switch loss {
        case .deleted, .unexplained:
            try await act?(.modifyRecordZones(saving: [], deleting: [zoneID]))
        case .purged: try await act?(.removeZone(zoneID, reason: .purged))
        case .encryptedDataReset: try await act?(.removeZone(zoneID, reason: .encryptedDataReset))
        }
    }

    /// Re-creates the zone, as another device.
    func makeZone() async throws {
        try await act?(.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: []))
    }

    /// Expires all change tokens.
    func expireTokens() async throws { try await act?(.expireTokens(zoneID)) }

    /// The titles of the server's records by record name; empty without a zone.
    func serverTitles() async throws -> [String: RecordValue] {
        do {
            return try await serverRecords().mapValues { $0.fields["title"] ?? .null }
        } catch let error as CloudError where [.zoneNotFound, .userDeletedZone].contains(error.code) {
            return [:]
        }
    }

    /// Syncs, and answers the purge question if there is one.
    func sync<Model>(_ device: Device<Model>, deciding answer: PurgeAnswer?) async throws {
        do {
            try await device.engine.sync()
        } catch let error as SyncError where error.code == .waitingForDecision {
            guard let answer else { return }
            try await device.engine.resolvePurge(answer)
            try await device.engine.sync()
        }
    }
}

extension ScriptedDatabase {
    /// Hides deleted zones from the database's feed.
    func hideReasons() {
        failAlways(.databaseChanges, CloudError(.badDatabase))
    }
}
