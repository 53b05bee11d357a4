import Foundation
import XCTest

@testable import CodableSync

/// Malformed input, group B: names that `upload` rejects are also ignored when they come from a server, and
/// canonically equivalent names are different names.
final class MalformedRecordScenariosNames: EngineScenario {
    private let kelvin = "\u{212A}"

    private func id(_ name: String) -> RecordID {
        RecordID(recordName: name, zoneID: ZoneID(zoneName: "Item"))
    }

    private func record(_ name: String, title: String) throws -> Record {
        Record(
            recordType: "Item",
            recordID: id(name),
            fields: try RecordEncoder().encode(Note("x", title)).fields.withoutNulls.merging(
                ["id": .string(name)]
            ) { $1 },
            systemFields: SystemFields(recordChangeTag: "t-\(title)", modificationDate: clock.now.wall)
        )
    }

    private func changePages(of device: Device<Note>, adding records: [Record], deleting names: [String] = [])
    {
        let deletions = names.map { ZoneChanges.Deletion(recordID: id($0), recordType: "Item") }
        device.database.changeFetchAnswers { page in
            var page = page
            for record in records { page.modifications[record.recordID] = .success(record) }
            page.deletions += deletions
            return page
        }
    }

    /// B14.
    func testRecordsWithNamesThatUploadRejectsAreIgnoredAndCounted() async throws {
        let phone = try makeDevice(Note.self)
        let names = ["caf\u{E9}", "cafe\u{301}", "_x", kelvin, "a\u{1B}[2J"]
        changePages(of: phone, adding: try (names + ["good"]).map { try record($0, title: "new") })
        try await phone.engine.fetchChanges()
        let told = try await phone.drain()
        XCTAssertEqual(told, [.updated([Note("good", "new")])])
        XCTAssertEqual(phone.events.count { $0 == .ignoredRecords(count: 5) }, 1)
        for name in names {
            let model = try await phone.engine.model(named: name)
            XCTAssertNil(model, name)
        }
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 1)
    }

    /// B14.
    func testARecordWithAnEquivalentNameIsNotShownAsAnother() async throws {
        let (phone, tablet) = try await makePair(Note("K", "ours"))
        changePages(of: phone, adding: [try record(kelvin, title: "theirs")])
        try await phone.engine.fetchChanges()
        let told = try await phone.drain()
        XCTAssertEqual(told, [])
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("K", "ours")])
        phone.database.changeFetchAnswers(nil)
        try await assertEqualEverywhere(phone, tablet)
    }

    /// B14.
    func testADeletionOfAnEquivalentNameDeletesNoOtherRecord() async throws {
        let (phone, _) = try await makePair(Note("K", "ours"))
        changePages(of: phone, adding: [], deleting: [kelvin])
        try await phone.engine.fetchChanges()
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("K", "ours")])
        XCTAssertEqual(phone.events.count { $0 == .ignoredRecords(count: 1) }, 1)
    }

    /// B14: an answer contains a record whose name differs from its key.
    func testARecordWhoseNameDiffersFromItsKeyIsIgnored() async throws {
        let phone = try makeDevice(Note.self)
        let (asked, stranger) = (id("K"), try record(kelvin, title: "theirs"))
        phone.database.changeFetchAnswers { page in
            var page = page
            page.modifications[asked] = .success(stranger)
            return page
        }
        try await phone.engine.fetchChanges()
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 0)
        XCTAssertEqual(phone.events.count { $0 == .ignoredRecords(count: 1) }, 1)
    }

    /// D5: an answer for another name does not confirm this one.
    func testAnAnswerForAnEquivalentNameConfirmsNothing() async throws {
        let phone = try makeDevice(Note.self)
        let (own, foreign) = (id("K"), id(kelvin))
        phone.database.changeModifyAnswers { result in
            var result = result
            result.saveResults[foreign] = result.saveResults.removeValue(forKey: own)
            return result
        }
        try await phone.engine.upload(Note("K", "ours"))
        try await phone.engine.sync()
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), ["K"])
        XCTAssertTrue(phone.events.all.contains(.unmentioned(recordName: "K")))
        XCTAssertTrue(phone.events.all.contains(.ignoredRecords(count: 1)))
    }

    /// D20: a conflict with another record, or one of another type, is looked up.
    func testAConflictWithAnotherRecordIsLookedUp() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "old"))
        try await phone.engine.sync()
        var task = try record("a", title: "task")
        task.recordType = "Task"
        for (title, stranger) in [("first", try record("b", title: "other")), ("second", task)] {
            let lookUps = phone.database.count(.lookUp)
            phone.database.failItem("a", CloudError(.serverRecordChanged, serverRecord: stranger))
            try await phone.engine.upload(Note("a", title))
            try await phone.engine.sync()
            XCTAssertEqual(phone.database.count(.lookUp), lookUps + 1, title)
            try await phone.engine.sync()
            let server = try await serverRecords()
            XCTAssertEqual(server.mapValues { $0.fields["title"] }, ["a": .string(title)])
        }
        assertNoConflict(phone)
    }

    /// B6, B14: a field with an invalid name is not decoded as another field.
    func testARecordWithAnInvalidFieldNameIsReportedAndKept() async throws {
        let phone = try makeDevice(Note.self)
        var strange = try record("a", title: "x")
        strange.fields["t\u{131}tle"] = "theirs"
        changePages(of: phone, adding: [strange, try record("b", title: "good")])
        try await phone.engine.fetchChanges()
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("b", "good")])
        let reported = try await phone.engine.diagnostics().undecodable
        XCTAssertEqual(reported, ["a"])
    }
}
