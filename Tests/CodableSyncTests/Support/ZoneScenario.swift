import XCTest

@testable import CodableSync

/// Facts about zones that somebody removes, told on the fake and on the local database.
class ZoneScenario: EngineScenario {
    /// What became of a zone, as a test plays it.
    enum Loss: String, CaseIterable {
        case deleted, purged, encryptedDataReset
        /// Gone, and the database's feed does not say why.
        case unexplained

        /// Whether everything that the device knows goes up again.
        var isUploadedAgain: Bool { self == .encryptedDataReset || self == .unexplained }
    }

    let zoneID = ZoneID(zoneName: "Item")
    private var act: ((LedgerRequest.Operation) async throws -> Void)?

    /// Whether the facts are told on the local database.
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
        let cloud = FakeCloud(date: { clock.now.wall })
        act = { _ = try cloud.perform($0, user: "alice") }
        return FakeTestCloud(cloud: cloud)
    }

    /// Somebody removes the zone; where there is no reason, these devices must not learn one.
    func remove(_ loss: Loss, hidingItFrom devices: ScriptedDatabase...) async throws {
        if loss == .unexplained { for device in devices { device.hideReasons() } }
        switch loss {
        case .deleted, .unexplained:
            try await act?(.modifyRecordZones(saving: [], deleting: [zoneID]))
        case .purged: try await act?(.removeZone(zoneID, reason: .purged))
        case .encryptedDataReset: try await act?(.removeZone(zoneID, reason: .encryptedDataReset))
        }
    }

    /// Another device makes the zone anew.
    func makeZone() async throws {
        try await act?(.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: []))
    }

    /// All change tokens are too old.
    func expireTokens() async throws { try await act?(.expireTokens(zoneID)) }

    /// The titles of what the server has, by record name; nothing if there is no zone.
    func serverTitles() async throws -> [String: RecordValue] {
        do {
            return try await serverRecords().mapValues { $0.fields["title"] ?? .null }
        } catch let error as CloudError where [.zoneNotFound, .userDeletedZone].contains(error.code) {
            return [:]
        }
    }

    /// Syncs; a purge is met, and decided as the test says.
    func sync<Model>(_ device: Device<Model>, deciding answer: PurgeAnswer?) async throws {
        do {
            try await device.engine.sync()
        } catch SyncError.waitingForDecision(.purged) {
            guard let answer else { return }
            try await device.engine.resolvePurge(answer)
            try await device.engine.sync()
        }
    }
}

extension ScriptedDatabase {
    /// The feed of the database says nothing about zones that are gone.
    func hideReasons() {
        failAlways(.databaseChanges, CloudError(.badDatabase))
    }
}
