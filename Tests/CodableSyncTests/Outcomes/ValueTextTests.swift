import CodableSync
import Foundation
import RecordCoding
import XCTest

/// The printed form of values: words for people, and no fields of records.
final class ValueTextTests: XCTestCase {
    private struct Named: RecordCodable, Identifiable {
        var id: String
        var secret = "secret"
        static func resolveConflict(_ conflict: Conflict<Named>) throws -> Named? { nil }
    }

    func testASummaryOmitsZeroCounts() {
        XCTAssertEqual("\(SyncSummary())", "nothing to sync")
        var summary = SyncSummary()
        summary.sent = 2
        summary.conflictsResolved = 1
        XCTAssertEqual("\(summary)", "2 sent, 1 conflict resolved")
    }

    func testASummaryHasEveryCount() {
        var summary = SyncSummary()
        let counts: [WritableKeyPath<SyncSummary, Int>] = [
            \.sent, \.deleted, \.fetched, \.undecodable, \.conflictsResolved, \.parked, \.pending,
        ]
        for (number, count) in counts.enumerated() { summary[keyPath: count] = number + 2 }
        XCTAssertEqual(
            "\(summary)",
            "2 sent, 3 deleted, 4 fetched, 5 not decodable, 6 conflicts resolved, 7 parked, 8 pending"
        )
    }

    func testAStatusIsInWords() {
        let date = Date(timeIntervalSince1970: 0)
        let texts: [(SyncStatus, String)] = [
            (.idle, "idle"), (.fetching, "fetching"), (.sending, "sending"), (.offline, "offline"),
            (.waiting(until: date), "waiting until 1970-01-01 00:00:00 +0000"),
            (.paused(.quotaExceeded), "paused: the cloud storage is full"),
            (.paused(.account(.noAccount)), "paused: account: no user is signed in"),
            (.paused(.state(.closed)), "paused: \(SyncError.closed)"),
            (.paused(.configuration(CloudError(.badContainer))), "paused: \(CloudError(.badContainer))"),
            (
                .waitingForDecision,
                "waiting for a decision: the user removed the app's data from the cloud"
            ),
            (.stopped, "stopped"),
        ]
        for (status, text) in texts { XCTAssertEqual("\(status)", text) }
    }

    func testAnAccountsStatusIsInWords() {
        let texts: [(AccountStatus, String)] = [
            (.available, "available"), (.noAccount, "no user is signed in"), (.restricted, "restricted"),
            (.couldNotDetermine, "could not be determined"),
            (.temporarilyUnavailable, "temporarily unavailable"),
        ]
        for (status, text) in texts { XCTAssertEqual("\(status)", text) }
    }

    func testAChangeNamesItsRecordsWithoutTheirFields() {
        let models = [Named(id: "a"), Named(id: "b")]
        let texts: [(ModelChange<Named>, String)] = [
            (.updated(models), #"updated "a", "b""#), (.saved([models[0]]), #"saved "a""#),
            (.deleted(["a", "b", "c", "d"]), #"deleted "a", "b", "c" and 1 other record"#),
            (.reset, "reset"), (.replayed, "replayed"),
        ]
        for (change, text) in texts { XCTAssertEqual("\(change)", text) }
    }

    func testPagesSayTheirCounts() throws {
        let zone = ZoneID(zoneName: "Note")
        let id = RecordID(recordName: "a", zoneID: zone)
        let record = Record(recordType: "Note", recordID: id, fields: ["title": "secret"])
        let token = ChangeToken(Data())
        let deletion = ZoneChanges.Deletion(recordID: id, recordType: "Note")
        let page = ZoneChanges(
            modifications: [id: .success(record)],
            deletions: [deletion, deletion],
            changeToken: token,
            moreComing: true
        )
        XCTAssertEqual("\(page)", "1 changed, 2 deleted, more coming")
        let texts: [([ZoneID], [DatabaseChanges.Deletion], Bool, String)] = [
            ([], [], false, "no changes"), ([zone], [], true, #"changed "Note"; more coming"#),
            ([], [.init(zoneID: zone, reason: .purged)], false, #""Note" purged by the user"#),
        ]
        for (changed, deleted, moreComing, text) in texts {
            let page = DatabaseChanges(
                modifications: changed,
                deletions: deleted,
                changeToken: token,
                moreComing: moreComing
            )
            XCTAssertEqual("\(page)", text)
        }
    }

    func testOutcomesAreInWords() {
        XCTAssertEqual("\(NotificationOutcome.newData)", "new data")
        XCTAssertEqual("\(NotificationOutcome.noData)", "no data")
        XCTAssertEqual("\(NotificationOutcome.failed)", "the fetch failed")
        XCTAssertEqual("\(NotificationOutcome.notOurs)", "not for this engine")
        XCTAssertEqual("\(CloudSignal.changes(in: [ZoneID(zoneName: "Note")]))", #"changes in "Note""#)
        XCTAssertEqual("\(CloudSignal.changes(in: nil))", "changes")
        XCTAssertEqual(
            "\(CloudSignal.accountChanged), \(CloudSignal.reachable)",
            "account changed, network reachable"
        )
        XCTAssertEqual("\(RecordPresence.here(Named(id: "a")))", #""a" is here"#)
        XCTAssertEqual("\(RecordPresence<Named>.deleted)", "deleted")
        XCTAssertEqual("\(RecordPresence<Named>.undecodable)", "undecodable")
        XCTAssertEqual("\(RecordPresence<Named>.unknown)", "unknown")
    }

    func testAnEditNamesItsRecordWithoutItsFields() async throws {
        var configuration = SyncConfiguration()
        configuration.automaticallySyncs = false
        let engine = SyncEngine<Named>(database: .fake, configuration: configuration)
        try await engine.upload(Named(id: "a"))
        let edit = try await engine.edit(named: "a") { $0.secret = "another secret" }
        XCTAssertEqual("\(edit)", #"edit of "a""#)
    }

    func testPendingChangesSayTheirKindAndStage() async throws {
        let cloud = FakeCloud()
        let database = cloud.database()
        var configuration = SyncConfiguration()
        configuration.automaticallySyncs = false
        let engine = SyncEngine<Named>(database: database, configuration: configuration)
        try await engine.upload([Named(id: "a"), Named(id: "b")])
        try await engine.delete(named: ["b"])
        let queued = try await engine.pendingChanges().map(\.description).sorted()
        XCTAssertEqual(queued, [#""a": edit, queued"#, #""b": deletion, queued"#])

        let refusal = CloudError(.invalidArguments, message: "The server said no.")
        database.on(.modifyRecords, .failItem("a", refusal))
        try await engine.sync()
        let parked = try await engine.pendingChanges().map(\.description)
        XCTAssertEqual(parked, [#""a": edit, parked: invalidArguments: The server said no. (refused)"#])
    }
}
