import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Contents in intact state files that are not valid in any record.
final class UnreadableContentsScenarios: StateFileScenario {
    private let journal = "journal-1.jsonl"

    /// A device's state in which a stored record has a date out of range.
    private func prepareUnreadable(_ name: String) async throws -> StateFiles {
        let files = try await prepare()
        let odd = #""fields":{"when":{"date":9223372036854775807},"#
        let groups = files.groups(journal).map { lines in
            lines.map { line in
                JournalLine.changing(line) { contents in
                    contents.contains("\"name\":\"\(name)\"")
                        ? contents.replacing("\"fields\":{", with: odd) : contents
                }
            }
        }
        try files.write(groups, to: journal)
        return files
    }

    private func undecodable(_ device: Device<Note>) -> [String] {
        device.events.all.compactMap {
            if case .undecodable(let name, let reason) = $0 { "\(name): \(reason)" } else { nil }
        }
    }

    func testARecordWithUnreadableContentsIsReportedOnceAndFetchedAgain() async throws {
        for readsAll in [true, false] {
            let device = try open(try await prepareUnreadable("known1"))
            for _ in 0..<2 {
                let names =
                    readsAll
                    ? try await device.engine.allModels().map(\.id)
                    : try await device.engine.models(named: ["known1", "known2"]).map(\.id)
                XCTAssertFalse(names.contains("known1"))
                XCTAssertTrue(names.contains("known2"))
            }
            await device.engine.waitUntilIdle()
            let told = undecodable(device)
            XCTAssertEqual(told.count, 1, "\(told)")
            XCTAssertTrue(
                told.first?.hasPrefix("known1: The stored contents cannot be read") == true,
                "\(told)"
            )
            try await device.engine.sync()
            let models = try await device.engine.models(named: ["known1"])
            XCTAssertEqual(models, [Note("known1", "Tea")])
            try await assertEqualEverywhere(device)
            try await device.engine.close()
            for name in Self.edits { try await serverDelete(name) }
        }
    }

    /// The unreadable edit is parked with a reason, and others are sent.
    func testAnEditWithUnreadableContentsIsParked() async throws {
        let device = try open(try await prepareUnreadable("p2"))
        let shown = try await device.engine.allModels().map(\.id)
        XCTAssertEqual(shown, ["known1", "known2", "p1", "p3"])
        await device.engine.waitUntilIdle()
        XCTAssertEqual(undecodable(device).count, 1, "\(undecodable(device))")
        try await device.engine.sync()
        let parked = try await device.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["p2"])
        XCTAssertEqual(parked.first?.parkReason?.kind, .contentsUnreadable)
        let server = try await serverRecords().keys.sorted()
        XCTAssertEqual(server, ["known1", "known2", "p1", "p3"])
    }

    /// The state of a device with more after the record in a row of contents.
    private func prepare(_ name: String, adding rest: String) async throws -> StateFiles {
        let files = try await prepare()
        var count = 0
        let groups = files.groups(journal).map { lines in
            lines.map { line in
                JournalLine.changing(line) { contents in
                    guard contents.contains("\"name\":\"\(name)\"") else { return contents }
                    count += 1
                    return contents + ",\(rest)"
                }
            }
        }
        XCTAssertEqual(count, 1, "the line of \(name)")
        try files.write(groups, to: journal)
        return files
    }

    /// Without the names, encrypted fields would be sent unencrypted.
    func testMalformedNamesOfEncryptedFieldsMakeContentsUnreadable() async throws {
        for names in ["[1]", "[[\"title\"]]", "{\"title\":1}", "\"title\"", "null"] {
            let files = try await prepare("known1", adding: names)
            let edited = try await prepare("p2", adding: names)
            let device = try open(files)
            _ = try await device.engine.allModels()
            await device.engine.waitUntilIdle()
            let told = undecodable(device)
            XCTAssertEqual(told.count, 1, "\(names): \(told)")
            XCTAssertTrue(told.first?.hasPrefix("known1: The stored contents cannot be read") == true, names)
            try await device.engine.sync()
            let models = try await device.engine.models(named: ["known1"])
            XCTAssertEqual(models, [Note("known1", "Tea")], "\(names): it is fetched again")
            try await device.engine.close()

            let other = try open(edited)
            try await other.engine.sync()
            let parked = try await other.engine.parkedChanges()
            XCTAssertEqual(parked.map(\.recordName), ["p2"], names)
            XCTAssertEqual(parked.first?.parkReason?.kind, .contentsUnreadable, names)
            try await other.engine.close()
            for name in Self.edits { try await serverDelete(name) }
        }
    }

    func testNamesThatAreNoFieldsHaveNoEffect() async throws {
        for names in ["[]", "[\"absent\",\"absent\"]", "[\"\"],7"] {
            let device = try open(try await prepare("p2", adding: names))
            try await device.engine.sync()
            let parked = try await device.engine.parkedChanges()
            XCTAssertEqual(parked.map(\.recordName), [], names)
            try await assertEqualEverywhere(device)
            try await device.engine.close()
            for name in Self.edits { try await serverDelete(name) }
        }
    }

    /// A device whose snapshot has a damaged copy of a record that is not edited here.
    private func prepareDamaged() async throws -> Device<Note> {
        let files = try await prepare(compacted: true, delivered: false)
        let name = try XCTUnwrap(files.names.first { $0.hasPrefix("snapshot") })
        let place = try XCTUnwrap(files[name].firstRange(of: Array("{\"name\":\"known1\"".utf8))).upperBound
        files[name][place + 20] ^= 1
        return try open(files)
    }

    func testADamagedCopyIsFetchedAgainForEachKindOfStream() async throws {
        for kind in ["changes", "liveChanges", "reads"] {
            let device = try await prepareDamaged()
            XCTAssertEqual(recoveries(of: device), [], kind)
            let view = Locked<[String: String]>([:])
            let engine = device.engine
            let loop = Task {
                if kind == "reads" { return }
                for await change in kind == "changes" ? engine.changes : engine.liveChanges {
                    if case .updated(let models) = change {
                        view.withLock { view in for model in models { view[model.id] = model.title } }
                    }
                }
            }
            if kind == "reads" {
                let shown = try await engine.allModels().map(\.id)
                XCTAssertEqual(shown, ["known2"] + Self.edits)
            } else {
                await device.events.reach("the damage was told") { events in
                    events.contains { if case .undecodable("known1", _) = $0 { true } else { false } }
                }
            }
            await engine.waitUntilIdle()
            try await engine.sync()
            await engine.waitUntilIdle()
            let model = try await engine.model(named: "known1")
            XCTAssertEqual(model, Note("known1", "Tea"), kind)
            if kind != "reads" { XCTAssertEqual(view.withLock { $0["known1"] }, "Tea", kind) }
            XCTAssertEqual(undecodable(device).count, 1, kind)
            try await assertEqualEverywhere(device)
            try await engine.close()
            await loop.value
            for name in Self.edits { try await serverDelete(name) }
        }
    }

    func testAnUploadOverADamagedCopyIsSentBehindALookUp() async throws {
        for (title, note) in [("mine", nil), ("mine", "of another device"), ("Tea", "of another device")]
            as [(String, RecordValue?)]
        {
            let device = try await prepareDamaged()
            if let note { try await serverSave("known1", ["note": note]) }
            try await device.engine.upload(Note("known1", title))
            try await device.engine.sync()
            let parked = try await device.engine.parkedChanges()
            XCTAssertEqual(parked.map(\.recordName), [])
            let server = try await serverRecords()["known1"]
            if let note {
                XCTAssertEqual(server?.fields["note"], note)
            } else {
                XCTAssertEqual(server?.fields["title"], "mine")
            }
            try await assertEqualEverywhere(device)
            try await device.engine.close()
            for name in ["known1"] + Self.edits { try await serverDelete(name) }
        }
    }

    /// If the stored server version is unreadable, an upload of the same record must not overwrite the
    /// server's version unseen.
    func testAnUploadOverUnreadableContentsIsMergedWithTheServersVersion() async throws {
        let device = try open(try await prepareUnreadable("known1"))
        _ = try await device.engine.allModels()
        try await serverSave("known1", ["note": "of another device"])
        pass()
        try await device.engine.upload(Note("known1", "mine"))
        try await device.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["known1"]?.fields["note"], "of another device")
        try await assertEqualEverywhere(device)
    }

    /// A date out of range on the server affects only its own record.
    func testAServerDateOutOfRangeAffectsOnlyItsRecord() async throws {
        let (phone, _) = try makeFragileDevice(Note.self)
        for name in ["a", "b", "c"] { try await serverSave(Note(name, "Tea")) }
        phone.database.changeFetchAnswers { page in
            var page = page
            for (id, result) in page.modifications {
                guard case .success(var record) = result else { continue }
                let odd = Date(timeIntervalSinceReferenceDate: id.recordName == "a" ? 1e300 : 9.3e15)
                if id.recordName == "c" {
                    record.systemFields?.creationDate = odd
                } else {
                    record.fields["when"] = .date(odd)
                }
                page.modifications[id] = .success(record)
            }
            return page
        }
        try await phone.engine.fetchChanges()
        let shown = try await phone.engine.allModels().map(\.id)
        XCTAssertEqual(shown, ["c"])
        XCTAssertEqual(undecodable(phone).map { $0.prefix(2) }, ["a:", "b:"])
        try await phone.restart()
        let again = try await phone.engine.allModels().map(\.id)
        XCTAssertEqual(again, ["c"])
    }
}
