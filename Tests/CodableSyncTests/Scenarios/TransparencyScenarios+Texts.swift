import XCTest

@testable import CodableSync

/// OB-03: logs and errors name records and never show their contents.
final class TransparencyScenariosTexts: EngineScenario {
    private static let secret = "SECRET"

    /// Throws an error that contains the model's title.
    private enum Telling: ItemPolicy {
        struct Held: Error { var title: String }

        static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
            if conflict.client.id == "throws" { throw Held(title: conflict.client.title) }
            return conflict.client.id == "server" ? conflict.server : conflict.client
        }
    }

    private struct Diary: RecordCodable {
        enum Mood: String, Codable { case calm }

        var id: String
        var mood: Mood
        var stars: Int8
        var large: UInt64?
        var page: URL?
        var recordName: String { id }

        static func resolveConflict(_ conflict: Conflict<Diary>) throws -> Diary? { conflict.client }
    }

    private func check(_ texts: [String], file: StaticString = #filePath, line: UInt = #line) {
        for text in texts {
            for shown in [Self.secret, "7777", "18446744073709551615"] where text.contains(shown) {
                XCTFail("\(shown) is in: \(text)", file: file, line: line)
            }
        }
    }

    /// OB-03.
    func testEventsAndParkedReasonsAndNotesShowNoContents() async throws {
        withoutSchema()
        let phone = try makeDevice(Item<Telling>.self)
        let names = ["server", "client", "throws", "gone", "refused", "dropped", "remote"]
        try await phone.engine.upload(names.map { Item<Telling>($0, Self.secret) })
        try await phone.engine.sync()
        _ = try await phone.drain()
        pass()
        for name in names where name != "gone" {
            try await serverSave(name, ["title": .string("\(Self.secret) 2"), "note": .string(Self.secret)])
        }
        try await serverDelete("gone")
        pass()
        phone.database.failItemAlways("refused", CloudError(.invalidArguments))
        try await phone.engine.upload(names.dropLast().map { Item<Telling>($0, "\(Self.secret) 3") })
        try await phone.engine.delete(named: ["remote"])
        try await phone.engine.discard(named: ["dropped"])
        try await phone.engine.sync()
        try await serverSave("strange", ["id": "strange", "title": 7777, "note": .string(Self.secret)])
        try await phone.engine.fetchChanges()
        let changes = phone.engine.changes
        let loop = Task { for await _ in changes {} }
        await phone.engine.reach("the record is found") { $0.machine?.undecodableNames == ["strange"] }
        loop.cancel()
        let events = phone.events.all
        let kinds = Set(events.compactMap { Mirror(reflecting: $0).children.first?.label })
        for kind in ["conflictResolved", "discarded", "editOfDeleted", "parked", "undecodable"] {
            XCTAssertTrue(kinds.contains(kind), "\(kind) is not among \(kinds)")
        }
        check(events.map { "\($0)" } + events.map { String(reflecting: $0) })
        check(try await phone.engine.diagnostics().notes.map { "\($0)" })
        check(try await phone.engine.parkedChanges().compactMap(\.parkReason?.description))
        // The events carry the values for code that needs them.
        let carried = events.compactMap { event -> RecordValue? in
            if case .conflictResolved("server", let client, _, _) = event {
                client.fields["title"]
            } else {
                nil
            }
        }
        XCTAssertEqual(carried, [.string("\(Self.secret) 3")])
    }

    /// OB-03.
    func testErrorsOfModelsThatCannotBeEncodedOrDecodedShowNoContents() async throws {
        let database = try makeDevice(Note.self).database
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        configuration.clock = clock
        let log = EventLog()
        configuration.logHandler = { log.append($0) }
        let engine = SyncEngine<Diary>(database: database, configuration: configuration)
        do {
            try await engine.upload(Diary(id: "a", mood: .calm, stars: 1, large: .max))
            XCTFail("the upload should fail")
        } catch {
            XCTAssertTrue("\(error)".contains("large"), "\(error)")
            check(["\(error)", String(reflecting: error), error.localizedDescription])
        }
        let records: [(String, [String: RecordValue])] = [
            ("mood", ["id": "mood", "mood": .string(Self.secret), "stars": 1]),
            ("stars", ["id": "stars", "mood": "calm", "stars": 7777]),
            ("named", ["id": "other", "mood": "calm", "stars": 1]),
        ]
        try await serverModify(
            database,
            saving: records.map { ($0.0, "Diary", $0.1) },
            zone: "Diary"
        )
        try await engine.fetchChanges()
        let changes = engine.changes
        let loop = Task { for await _ in changes {} }
        await engine.reach("all undecodable records are found") { $0.machine?.undecodableNames.count == 3 }
        loop.cancel()
        let told = log.all.compactMap { event -> String? in
            if case .undecodable(let name, let reason) = event { "\(name): \(reason)" } else { nil }
        }
        XCTAssertEqual(told.count, 3)
        XCTAssertTrue(
            told.contains { $0.hasPrefix("mood") && $0.contains("mood:") },
            "the field is named: \(told)"
        )
        check(told)
        try await engine.close()
    }

    /// OB-03.
    func testARecordsDescriptionIsItsTypeAndName() {
        let id = RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Z"))
        let record = Record(recordType: "Note", recordID: id, fields: ["title": .string(Self.secret)])
        XCTAssertEqual("\(record)", "Note \"a\"")
        XCTAssertEqual(String(reflecting: record), "Note \"a\"")
        let conflict = CloudError(.serverRecordChanged, serverRecord: record)
        check(["\(conflict)", String(reflecting: conflict), "\(SyncError.cloud(conflict))"])
    }
}
