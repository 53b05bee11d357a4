import XCTest

@_spi(Server) @testable import CodableSync

/// A ledger on a simulated disk, with one zone of one user.
enum LedgerDirectoryFixture {
    static let zone = ZoneID(zoneName: "Note")
    static let date = Date(timeIntervalSince1970: 1_700_000_000)

    static func directory(
        _ fileSystem: any FileSystem,
        compactionSize: UInt64 = 1 << 20
    ) -> LedgerDirectory {
        LedgerDirectory(
            path: "/ledger",
            fileSystem: fileSystem,
            compactionSize: compactionSize,
            newIdentifier: { "test" }
        )
    }

    static func save(
        _ names: String...,
        text: String = "text",
        in directory: LedgerDirectory
    ) async throws {
        let zones = LedgerRequest.Operation.modifyRecordZones(
            saving: [RecordZone(zoneID: zone)],
            deleting: []
        )
        _ = try await directory.perform(LedgerRequest(user: "alice", operation: zones), at: date)
        try await saveRecords(names, text: text, in: directory)
    }

    static func saveRecords(
        _ names: [String],
        text: String,
        in directory: LedgerDirectory
    ) async throws {
        let records = names.map { name in
            Record(
                recordType: "Note",
                recordID: RecordID(recordName: name, zoneID: zone),
                fields: ["text": .string(text)]
            )
        }
        let saving = LedgerRequest.Operation.modifyRecords(
            saving: records,
            deleting: [],
            savePolicy: .allKeys,
            atomically: true
        )
        let (response, _) = try await directory.perform(
            LedgerRequest(user: "alice", operation: saving),
            at: date
        )
        guard case .modifyRecords(let result) = response else { return XCTFail("\(response)") }
        for outcome in result.saveResults.values { _ = try outcome.get() }
    }

    static func names(in directory: LedgerDirectory) async throws -> [String] {
        try await Self.changes(in: directory).map(\.recordID.recordName).sorted()
    }

    static func changes(in directory: LedgerDirectory) async throws -> [Record] {
        let reading = LedgerRequest.Operation.recordZoneChanges(
            zone,
            since: nil,
            desiredKeys: nil,
            resultsLimit: nil
        )
        let (response, _) = try await directory.perform(
            LedgerRequest(user: "alice", operation: reading),
            at: date
        )
        guard case .recordZoneChanges(let page) = response else {
            if case .failure(let error) = response, error.code == .zoneNotFound { return [] }
            XCTFail("\(response)")
            return []
        }
        return try page.modifications.values.map { try $0.get() }
            .sorted { $0.recordID.recordName < $1.recordID.recordName }
    }
}

extension CloudError {
    /// Whether it says that a file of a cloud is damaged.
    var isOfDamage: Bool {
        code == .badDatabase && (message.contains(" is damaged at ") || message.contains(" cannot be read: "))
    }
}
