import Foundation
import XCTest

@testable import CodableSync

/// Malformed input, group B: unexpected names, types, tags, dates and markers of records.
final class MalformedRecordScenariosIdentity: EngineScenario {
    private let zoneID = ZoneID(zoneName: "Item")

    private func record(_ name: String, type: String = "Item", in zone: String = "Item") throws -> Record {
        let id = RecordID(recordName: name, zoneID: ZoneID(zoneName: zone))
        return Record(
            recordType: type,
            recordID: id,
            fields: try RecordEncoder().encode(Sample(id: "good")).fields.withoutNulls,
            systemFields: SystemFields(recordChangeTag: "tag-\(name.prefix(5))")
        )
    }

    private func ignoredCount(_ device: Device<Sample>) -> Int {
        device.events.all.reduce(0) { sum, event in
            if case .ignoredRecords(let count) = event { sum + count } else { sum }
        }
    }

    /// B8.
    func testRecordsOfOtherTypesAndZonesAreIgnoredAndCounted() async throws {
        let phone = try makeDevice(Sample.self)
        try await serverSave(Note("good"))
        try await serverSave("good", RecordEncoder().encode(Sample(id: "good")).fields)
        let foreignFiles = [
            try record("a", type: "Other"), try record("b", type: "cloudkit.share"),
            try record("c", type: "Users"), try record("d", in: "Elsewhere"),
        ]
        let misnamed = (RecordID(recordName: "e", zoneID: zoneID), try record("f"))
        phone.database.changeFetchAnswers { page in
            var page = page
            for record in foreignFiles { page.modifications[record.recordID] = .success(record) }
            page.modifications[misnamed.0] = .success(misnamed.1)
            return page
        }
        try await phone.engine.fetchChanges()
        let told = try await phone.drain()
        XCTAssertEqual(told, [.updated([Sample(id: "good")])])
        XCTAssertEqual(ignoredCount(phone), 5)
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 1)
    }

    /// B8: a record of another type has the name of an upload.
    func testARecordOfAnotherTypeWithTheSameNameIsNotOverwritten() async throws {
        let phone = try makeDevice(Sample.self)
        try await serverModify(phone.database, saving: [("a", "Other", ["what": "theirs"])])
        let before = try await serverRecords()["a"]
        try await phone.engine.upload([Sample(id: "a"), Sample(id: "b")])
        try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["a"])
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.refused])
        let server = try await serverRecords()
        XCTAssertEqual(server["a"], before)
        XCTAssertEqual(server.keys.sorted(), ["a", "b"])
        let requests = phone.database.modifies.count
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.count, requests, "the edit is not sent again")
    }

    /// B9: system fields stored with a model only identify a known version and are never sent.
    func testInvalidStoredSystemFieldsDoNoHarm() async throws {
        Calls.shared.reset(Stored.self)
        let phone = try makeDevice(Stored.self)
        let foreign = SystemFields(recordChangeTag: "another", archive: Data(count: 10_000)).encodedBlob
        let blobs = [nil, Data(), Data([0xFF]), Data("{}".utf8), foreign, Data(count: 10_000)]
        for (number, blob) in blobs.enumerated() {
            pass()
            try await phone.engine.upload(Stored(id: "a", title: "\(number)", systemFields: blob))
            try await phone.engine.sync()
            let server = try await serverRecords()["a"]
            XCTAssertEqual(server?.fields["title"], .string("\(number)"))
            XCTAssertNil(server?.fields["systemFields"])
            let model = try await phone.engine.model(named: "a")
            XCTAssertEqual(model?.systemFields, server?.systemFields?.encodedBlob)
        }
        XCTAssertEqual(Calls.shared.count(Stored.self), 1, "a version that is not stored is no ancestor")
        XCTAssertEqual(phone.database.modifies.count, blobs.count, "no request was refused")
    }

    /// B9, B10.
    func testAMissingOrInvalidChangeTagNeverOverwritesAnEdit() async throws {
        let tags: [String: SystemFields?] = [
            "none": nil, "empty": SystemFields(recordChangeTag: ""),
            "long": SystemFields(recordChangeTag: String(repeating: "x", count: 10_000)),
        ]
        for (name, tag) in tags.sorted(by: { $0.key < $1.key }) {
            let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
            phone.database.changeRecords { $0.systemFields = tag }
            try await tablet.engine.upload(Note(name, "first"))
            try await settle(tablet, phone)
            try await show(tablet, phone)
            pass()
            try await tablet.engine.upload(Note(name, "second"))
            try await tablet.engine.sync()
            try await phone.engine.sync()
            // The next version has the same invalid tag; the long tag counts as a real one.
            if name != "long" {
                let told = try await phone.drain()
                XCTAssertEqual(told, [.updated([Note(name, "second")])], name)
            }
            pass()
            try await tablet.engine.upload(Note(name, "second", note: "tablet"))
            try await tablet.engine.sync()
            try await phone.engine.upload(Note(name, name == "long" ? "first" : "second", color: "phone"))
            try await phone.engine.sendChanges()
            phone.database.changeFetchAnswers(nil)
            try await settle(phone, tablet)
            let server = try await serverRecords()[name]?.fields
            XCTAssertEqual(server?["title"], "second", name)
            XCTAssertEqual(server?["note"], "tablet", name)
            XCTAssertEqual(server?["color"], "phone", name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// B13.
    func testAnInvalidModificationDateHidesNoChange() async throws {
        let dates: [String: Date?] = [
            "absent": nil, "1970": Date(timeIntervalSince1970: 0),
            "2999": Date(timeIntervalSince1970: 32_472_144_000),
        ]
        for (name, date) in dates.sorted(by: { $0.key < $1.key }) {
            let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
            phone.database.changeRecords { $0.systemFields?.modificationDate = date }
            try await tablet.engine.upload(Note(name, "first"))
            try await settle(tablet, phone)
            let first = try await phone.drain().flatMap(\.models)
            XCTAssertTrue(first.contains(Note(name, "first")), name)
            phone.database.changeFetchAnswers(nil)
            // A later version with a valid date.
            pass()
            try await tablet.engine.upload(Note(name, "second"))
            try await settle(tablet, phone)
            let second = try await phone.drain()
            XCTAssertEqual(second, [.updated([Note(name, "second")])], name)
            // An edit of this device on top of the invalid date.
            phone.database.changeRecords { $0.systemFields?.modificationDate = date }
            pass()
            try await tablet.engine.upload(Note(name, "third"))
            try await settle(tablet, phone)
            try await show(phone)
            pass()
            try await phone.engine.upload(Note(name, "mine"))
            try await phone.engine.sendChanges()
            let saved = try await phone.drain()
            XCTAssertEqual(saved, [.saved([Note(name, "mine")])], name)
            try await settle(phone, tablet)
            let echo = try await phone.drain()
            XCTAssertEqual(echo, [], name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// B14.
    func testInvalidRecordNamesAreIgnoredAndCounted() async throws {
        let phone = try makeDevice(Sample.self)
        let names = ["", String(repeating: "x", count: 10_000)]
        let foreignFiles = try names.map { try record($0) } + [try record("good")]
        let zoneID = zoneID
        phone.database.changeFetchAnswers { page in
            var page = page
            for record in foreignFiles { page.modifications[record.recordID] = .success(record) }
            let unreadable = RecordID(recordName: String(repeating: "y", count: 256), zoneID: zoneID)
            page.modifications[unreadable] = .failure(CloudError(.internalError))
            for name in names {
                let id = RecordID(recordName: name, zoneID: zoneID)
                page.deletions.append(ZoneChanges.Deletion(recordID: id, recordType: "Item"))
            }
            return page
        }
        try await phone.engine.fetchChanges()
        let told = try await phone.drain()
        XCTAssertEqual(told, [.updated([Sample(id: "good")])])
        XCTAssertEqual(ignoredCount(phone), 2 + 1 + 2)
        XCTAssertEqual(phone.database.count(.lookUp), 0)
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 1)
    }

    /// B14: control characters are refused in names, and escaped in messages.
    func testANameWithControlCharactersCannotForgeALogLine() async throws {
        let name = "a\nforged line\u{1B}[0m"
        let phone = try makeDevice(Sample.self)
        var texts = phone.events.all.map { "\($0)" }
        do {
            try await phone.engine.upload(Sample(id: name))
            XCTFail("it was queued")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .invalidModels)
            texts.append(error.description)
        }
        let reason = ParkReason(kind: .refused, message: "No.")
        texts += ["\(SyncEvent.parked(recordName: name, reason))"]
        texts += ["\(SyncEvent.undecodable(recordName: name, reason: "No."))"]
        XCTAssertEqual(texts.filter { $0.contains("forged") }.count, 3)
        for text in texts {
            XCTAssertFalse(text.unicodeScalars.contains { $0.value < 32 }, text)
        }
    }

    /// B15.
    func testAnInvalidEditDateCountsAsAForeignWrite() async throws {
        withoutSchema()
        let values: [RecordValue] = [
            "nonsense", 7, [], .bytes(Data([1])), .date(Date(timeIntervalSince1970: 9e10)),
        ]
        for (number, value) in values.enumerated() {
            Recording.asked.withLock { $0 = [] }
            let name = "n-\(number)"
            let (phone, _) = try await makePair(Item<Recording>(name, "old")) { $0.storage = .inMemory }
            try await phone.engine.upload(Item(name, "mine", note: "kept"))
            pass()
            let fields: [String: RecordValue] = ["title": "theirs", "codableSyncEdited": value]
            let old = try await serverRecords()[name]?.fields ?? [:]
            let saved = try await serverSave(name, old.merging(fields) { $1 })
            try await phone.engine.fetchChanges()
            let asked = Recording.asked.withLock { $0 }
            XCTAssertEqual(asked.map(\.server.title), ["theirs"], name)
            // An invalid edit date, or one after the save, is replaced by the save's date.
            XCTAssertEqual(asked.map(\.serverEdited), [saved.systemFields?.modificationDate], name)
            let told = try await phone.drain()
            XCTAssertEqual(told, [.updated([Item(name, "theirs", note: "kept")])], name)
        }
    }

    /// B15: this device's own edit date with other contents.
    func testAnOwnEditDateWithForeignContentsIsAForeignWrite() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "mine"))
        try await phone.engine.sync()
        _ = try await phone.drain()
        var fields = try await serverRecords()["a"]?.fields ?? [:]
        XCTAssertNotNil(fields["codableSyncEdited"])
        fields["title"] = "theirs"
        fields["codableSyncFuture"] = "unknown marker"
        try await serverSave("a", fields)
        try await phone.engine.sync()
        let told = try await phone.drain()
        XCTAssertEqual(told, [.updated([Note("a", "theirs")])])
        pass()
        try await phone.engine.upload(Note("a", "mine again"))
        try await phone.engine.sync()
        let server = try await serverRecords()["a"]?.fields
        XCTAssertEqual(server?["codableSyncFuture"], "unknown marker")
    }

    /// B17.
    func testADeletionWithoutANameIsIgnoredAndOneNextToAChangeIsLookedUp() async throws {
        let (phone, tablet) = try await makePair(Note("there", "old"), Note("gone", "old"))
        let there = try await serverRecords()["there"]
        let gone = try await serverRecords()["gone"]
        try await serverDelete("gone")
        let zoneID = zoneID
        phone.database.changeFetchAnswers { page in
            var page = page
            for record in [there, gone].compactMap({ $0 }) {
                page.modifications[record.recordID] = .success(record)
                page.deletions.append(ZoneChanges.Deletion(recordID: record.recordID, recordType: "Item"))
            }
            let nobody = RecordID(recordName: "", zoneID: zoneID)
            page.deletions.append(ZoneChanges.Deletion(recordID: nobody, recordType: "Item"))
            return page
        }
        try await phone.engine.fetchChanges()
        XCTAssertEqual(phone.events.count { $0 == .ignoredRecords(count: 1) }, 1)
        XCTAssertEqual(phone.database.count(.lookUp), 1, "both are looked up")
        phone.database.changeFetchAnswers(nil)
        try await settle(phone, tablet)
        let told = try await phone.drain()
        XCTAssertEqual(told, [.deleted(["gone"])])
        try await assertEqualEverywhere(phone, tablet)
    }
}
