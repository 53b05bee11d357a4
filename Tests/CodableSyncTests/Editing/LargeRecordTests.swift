import XCTest

@_spi(Server) @testable import CodableSync

/// A record whose line would be longer than the log allows.
final class LargeRecordTests: XCTestCase {
    func testATooLargeRecordParksItselfAndNotItsPage() async throws {
        var limits = LedgerLimits.cloudKit
        limits.database.maximumRecordBytes = 100 << 20
        limits.database.maximumBytes = 200 << 20
        limits.checksContents = false
        let cloud = FakeCloud(limits: limits, options: LedgerOptions())
        var configuration = SyncConfiguration()
        configuration.automaticallySyncs = false
        let phone = SyncEngine<Note>(database: cloud.database(), configuration: configuration)
        try await phone.upload([Note("a", "known"), Note("b", "known")])
        try await phone.sync()
        var fields = try RecordEncoder().encode(Note("a", "")).fields
        fields["note"] = .string(String(repeating: "x", count: 65 << 20))
        try cloud.save(fields, of: "a")
        try cloud.save(RecordEncoder().encode(Note("b", "theirs")).fields, of: "b")
        try await phone.sync()
        let shown = try await phone.allModels().map(\.title)
        XCTAssertEqual(shown, ["known", "theirs"], "the page goes on")

        try await phone.edit(named: "a") { $0.title = "mine" }
        let summary = try await phone.sync()
        XCTAssertEqual(summary.parked, 1)
        let message = try await phone.pendingChanges().first?.parkReason?.message ?? ""
        XCTAssertTrue(message.contains("too many for this device"), message)
        try await phone.close()
    }
}

extension FakeCloud {
    /// Saves a record as another device.
    fileprivate func save(_ fields: [String: RecordValue], of name: String) throws {
        let id = RecordID(recordName: name, zoneID: ZoneID(zoneName: "Item"))
        _ = try put(Record(recordType: "Item", recordID: id, fields: fields))
    }
}
