import CodableSync
import RecordCoding
import XCTest

/// The printed form of events and diagnostics.
final class EventTextTests: XCTestCase {
    private let record = Record(
        recordType: "Item",
        recordID: RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Item")),
        fields: ["title": "secret"]
    )

    func testAnEventIsOneLineWithoutFieldValues() {
        let date = Date(timeIntervalSince1970: 0)
        let error = CloudError(.networkFailure)
        let events: [SyncEvent] = [
            .fetchBegan, .fetchEnded(changed: 1, deleted: 2), .sendBegan(count: 3),
            .sendEnded(saved: 1, deleted: 2, failed: 3), .failed(error), .waiting(until: date),
            .callRefused(recordNames: ["a\nb"], .recordNotFound("a\nb")),
            .parked(recordName: "a\nb", ParkReason(kind: .refused, message: "No.")),
            .conflictResolved(recordName: "a", client: record, server: record, .merged),
            .discarded(recordName: "a", record, .deletion),
            .editOfDeleted(recordName: "a", record, kept: true), .conflictLoop(recordName: "a"),
            .quotaExceeded, .undecodable(recordName: "a", reason: "title: missing"),
            .streamStalled(waiting: 1), .ignoredRecords(count: 1), .unmentioned(recordName: "a"),
            .unknownValue(recordName: "a\nb", field: "shape", kind: "Shape"),
            .accountChanged(from: nil, to: "alice"), .accountSwitchFailed(to: "bob", .closed),
            .zoneLost(nil), .zoneLost(.purged), .zoneReady, .listingBegan, .subscriptionFailed(error),
            .stateRecovered("kept"), .storageFailed("full"), .dropped(count: 1),
        ]
        for event in events {
            let text = "\(event)"
            XCTAssertFalse(text.contains("CodableSync.") || text.contains("\n"), text)
            XCTAssertFalse(text.contains("secret") || text.contains("Optional"), text)
        }
    }

    func testAnEventNamesItsRecordAndOutcome() {
        let reason = ParkReason(kind: .refused, message: "The server said no.")
        XCTAssertEqual(
            "\(SyncEvent.parked(recordName: "a\nb", reason))",
            #"Parked the change to "a\u{a}b": The server said no. (refused)"#
        )
        XCTAssertEqual(
            "\(SyncEvent.conflictResolved(recordName: "a", client: record, server: record, .server))",
            #"Resolved a conflict over "a": kept the cloud's version."#
        )
        XCTAssertEqual(
            "\(SyncEvent.callRefused(recordNames: ["a", "b", "c", "d", "e"], .stopped))",
            #"Refused a call for "a", "b", "c" and 2 other records: The engine is stopped. Call start first."#
        )
        XCTAssertEqual(
            "\(SyncEvent.accountChanged(from: "alice", to: nil))",
            #"The user changed from "alice" to nobody."#
        )
    }

    func testALostZonesReasonIsInWords() {
        XCTAssertEqual("\(SyncEvent.zoneLost(nil))", "Zone lost (reason unknown).")
        XCTAssertEqual("\(SyncEvent.zoneLost(.purged))", "Zone lost (purged by the user).")
    }

    func testDiagnosticsAreLinesForABugReport() async throws {
        let cloud = FakeCloud()
        var configuration = SyncConfiguration()
        configuration.automaticallySyncs = false
        let engine = SyncEngine<Named>(database: cloud.database(user: "alice"), configuration: configuration)
        try await engine.upload(Named(id: "a"))
        try await engine.sync()
        try await engine.upload(Named(id: "b"))
        try await engine.discard(named: ["b"])
        let lines = try await "\(engine.diagnostics())".split(separator: "\n").map(String.init)
        XCTAssertEqual(lines[1], #"user: "alice", account: available"#)
        XCTAssertEqual(lines[3], "records: 1 known, 0 pending, 0 parked, 0 undelivered")
        XCTAssertEqual(lines[5], "state: in memory")
        XCTAssertTrue(lines.last?.contains(#"discarded "b": "#) == true, "\(lines)")
    }

    private struct Named: RecordCodable, Identifiable {
        var id: String
        static func resolveConflict(_ conflict: Conflict<Named>) throws -> Named? { nil }
    }
}
