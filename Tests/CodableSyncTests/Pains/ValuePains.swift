import Foundation
import XCTest

@testable import CodableSync

/// Values arrive unchanged or are rejected by name.
final class ValuePains: EngineScenario {
    // P-32
    func testClearingAFieldClearsItElsewhereEvenInAConflict() async throws {
        for inConflict in [false, true] {
            let name = "conflict-\(inConflict)"
            let (phone, tablet) = try await makePair(Note(name, "Tea", note: "hot")) {
                $0.storage = .inMemory
            }
            try await phone.engine.upload(Note(name, "Tea"))
            if inConflict {
                try await tablet.engine.upload(Note(name, "Green tea", note: "hot"))
                try await tablet.engine.sync()
            }
            try await settle(phone, tablet)
            let model = try await tablet.engine.model(named: name)
            XCTAssertEqual(model, Note(name, inConflict ? "Green tea" : "Tea"), name)
            let server = try await serverRecords()
            XCTAssertNil(server[name]?.fields["note"], name)
        }
    }

    private struct Lists: RecordCodable, Equatable {
        static var recordType: String { "Item" }
        var id: String
        var texts: [String] = []
        var blobs: [Data]?
        var recordName: String { id }
        static func resolveConflict(_ conflict: Conflict<Lists>) throws -> Lists? { conflict.client }
    }

    // P-33
    func testEmptyListsAndListsOfEmptyValuesStayDistinct() async throws {
        let models = [
            Lists(id: "a", texts: [], blobs: nil),
            Lists(id: "b", texts: [""], blobs: [Data()]),
            Lists(id: "c", texts: [], blobs: nil),
            Lists(id: "d", texts: ["", ""], blobs: [Data([0]), Data()]),
        ]
        let phone = try makeDevice(Lists.self)
        let tablet = try makeDevice(Lists.self)
        // Each record takes each value in turn.
        for turn in 0..<models.count {
            let turned = models.indices.map { index in
                var model = models[(index + turn) % models.count]
                model.id = models[index].id
                return model
            }
            try await phone.engine.upload(turned)
            try await settle(phone, tablet)
            let received = try await tablet.engine.allModels()
            XCTAssertEqual(received, turned, "turn \(turn)")
        }
    }

    // P-33
    func testAnEmptyOptionalListIsNilOnAllDevicesOnceItIsSaved() async throws {
        let phone = try makeDevice(Lists.self)
        let tablet = try makeDevice(Lists.self)
        let app = StreamFold(\.liveChanges, of: phone.engine)
        try await phone.engine.upload(Lists(id: "new", blobs: []))
        try await phone.engine.upload(Lists(id: "emptied", texts: ["x"], blobs: [Data()]))
        try await settle(phone, tablet)
        try await phone.engine.upload(Lists(id: "emptied", texts: [], blobs: []))
        try await settle(phone, tablet)
        try await app.assertShowsWhatReadsShow("once they are saved")
        let expected = [Lists(id: "emptied"), Lists(id: "new")]
        for device in [phone, tablet] {
            let models = try await device.engine.allModels().sorted { $0.id < $1.id }
            XCTAssertEqual(models, expected)
            let pending = try await device.engine.pendingChanges()
            XCTAssertEqual(pending.count, 0)
        }
        let server = try await serverRecords()
        XCTAssertEqual(server.values.map { $0.fields.filter { $0.value.kind == .list } }, [[:], [:]])
        // Nothing is left to send.
        let count = phone.database.modifies.count
        try await phone.engine.upload(Lists(id: "new", texts: [], blobs: []))
        try await settle(phone, tablet)
        XCTAssertEqual(phone.database.modifies.count, count)
        await app.end()
    }

    // P-33
    func testAnEmptyListSurvivesALostResponseAndAConflict() async throws {
        let phone = try makeDevice(Lists.self)
        let tablet = try makeDevice(Lists.self)
        phone.database.plan(.modify, .loseAnswer)
        try await phone.engine.upload(Lists(id: "a", texts: [], blobs: []))
        do { try await phone.engine.sync() } catch { XCTAssertNotNil(error as? SyncError, "\(error)") }
        try await settle(phone, tablet)
        XCTAssertEqual(phone.events.all.filter { if case .conflictResolved = $0 { true } else { false } }, [])
        // Both empty the list at once: there is nothing to resolve.
        try await tablet.engine.edit(named: "a") { ($0.texts, $0.blobs) = (["x"], [Data()]) }
        try await settle(phone, tablet)
        pass()
        try await phone.engine.edit(named: "a") { ($0.texts, $0.blobs) = ([], []) }
        try await tablet.engine.edit(named: "a") { ($0.texts, $0.blobs) = ([], nil) }
        try await settle(phone, tablet)
        for device in [phone, tablet] {
            let model = try await device.engine.model(named: "a")
            XCTAssertEqual(model, Lists(id: "a"))
            XCTAssertEqual(
                device.events.all.filter { if case .conflictResolved = $0 { true } else { false } },
                []
            )
        }
    }

    // P-34, and P-11: no error of the queue is swallowed.
    func testTheSourcesContainNoTrapsAndSwallowNoErrors() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources").standardizedFileURL
        let files = try XCTUnwrap(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        )
        let words = ["fatalError", "preconditionFailure", "try" + "!", "as" + "! ", "try" + "? "]
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            count += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            // Most files have none of the words, not even in a comment.
            guard words.contains(where: { text.contains($0) }) else { continue }
            for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                // A word at the end of a longer one doesn't count.
                let text = " " + String(line)
                for word in words
                where text.ranges(of: word).contains(where: {
                    !text[text.index(before: $0.lowerBound)].isLetter
                }) {
                    XCTFail("\(file.lastPathComponent): \(line)")
                }
            }
        }
        XCTAssertGreaterThan(count, 100)
    }

    // P-34
    func testUnexpectedFieldValuesNeverTrap() throws {
        let values: [RecordValue] = [
            .string(""), .int64(.min), .double(.nan), .double(.infinity), .bytes(Data([0xFF, 0])),
            .date(.distantFuture), .list([]), .list([.int64(1), .int64(2)]), .null,
        ]
        let coding = ModelCoding<Note>(zoneID: ZoneID(zoneName: "Item"), writesEditDates: true)
        for (number, value) in values.enumerated() {
            for field in ["title", "note", "count", "tags", "id", "codableSyncEdited", "codableSyncSchema"] {
                var record = try RecordEncoder().encode(Note("n"), zoneID: ZoneID(zoneName: "Item"))
                record.fields[field] = value
                // Decoding the record and throwing an error are both correct.
                XCTAssertNoThrow(
                    try Result { try coding.decode(record) }.map { _ in }.flatMapError { error in
                        coding.describe(error).isEmpty ? .failure(error) : .success(())
                    }.get(),
                    "\(field), value \(number)"
                )
            }
        }
    }

    // P-35
    func testInvalidModelsAreRejectedByNameBeforeAnythingIsQueued() async throws {
        let phone = try makeDevice(Note.self)
        let large = Note("large", String(repeating: "x", count: 1_000_000), note: "small")
        do {
            try await phone.engine.upload([Note("fine"), large, Note("_name")])
            XCTFail("invalid models were accepted")
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertEqual(error.recordNames, ["large", "_name"])
            XCTAssertTrue(error.message.contains(" _name: "), error.message)
            let reason = error.message
            for word in ["1000000", "title"] { XCTAssertTrue(reason.contains(word), reason) }
            XCTAssertNotNil(reason.firstMatch(of: /10000\d\d/), reason)
        }
        var pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        try await phone.engine.delete(named: ["large"])
        pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["large"])
    }

    private struct Unordered: RecordCodable, Equatable {
        static var recordType: String { "Item" }
        var id = "a"
        var words: Set<String> = ["one", "two", "three", "four"]
        var counts: [String: Int] = ["b": 2, "a": 1, "c": 3]
        var places: [Int: String] = [3: "c", 1: "a", 2: "b"]
        var recordName: String { id }
        static func resolveConflict(_ conflict: Conflict<Unordered>) throws -> Unordered? { conflict.client }
    }

    // P-36
    func testEqualValuesEncodeToEqualBytesAndCauseNoRequest() async throws {
        // Each process orders sets by its own seed; these bytes are the same in every process.
        let record = try RecordEncoder().encode(Unordered(), zoneID: ZoneID(zoneName: "Item"))
        XCTAssertEqual(record.fields["words"]?.text, #"["four","one","three","two"]"#)
        XCTAssertEqual(record.fields["counts"]?.text, #"{"a":1,"b":2,"c":3}"#)
        XCTAssertEqual(record.fields["places"]?.text, #"{"1":"a","2":"b","3":"c"}"#)

        let phone = try makeDevice(Unordered.self)
        try await phone.engine.upload(Unordered())
        try await phone.engine.sync()
        for _ in 0..<20 {
            var model = Unordered()
            model.words = Set(model.words.shuffled())
            pass()
            try await phone.engine.upload(model)
            try await phone.engine.sync()
        }
        XCTAssertEqual(phone.database.modifies.count, 1)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }
}

extension RecordValue {
    /// Bytes as text.
    fileprivate var text: String? {
        guard case .bytes(let bytes) = self else { return nil }
        return String(data: bytes, encoding: .utf8)
    }
}
