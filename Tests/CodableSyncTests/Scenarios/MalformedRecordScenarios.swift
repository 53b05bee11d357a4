import Foundation
import XCTest

@testable import CodableSync

/// Malformed input, group B: records on the server that do not fit the model.
final class MalformedRecordScenarios: EngineScenario {
    private func fields(_ sample: Sample, _ broken: [String: RecordValue]) throws -> [String: RecordValue] {
        try RecordEncoder().encode(sample).fields.merging(broken) { $1 }.withoutNulls
    }

    private func reasons(_ device: Device<Sample>, _ name: String) -> [String] {
        device.events.all.compactMap { event in
            if case .undecodable(name, let reason) = event { reason } else { nil }
        }
    }

    /// Asserts that the record is reported, kept, not overwritten, does not block others, and is delivered
    /// once it is repaired.
    private func assertKept(
        _ name: String,
        _ broken: [String: RecordValue],
        says words: String...,
        hiding value: String? = nil,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        let phone = try makeDevice(Sample.self)
        let before = try await serverSave(name, fields(Sample(id: name), broken))
        try await serverSave("z-\(name)", fields(Sample(id: "z-\(name)"), [:]))
        try await phone.engine.sync()

        let told = try await phone.drain(leaving: 1).flatMap(\.models)
        XCTAssertTrue(told.contains(Sample(id: "z-\(name)")), "\(name): the others", file: file, line: line)
        XCTAssertFalse(told.contains { $0.id == name }, name, file: file, line: line)
        let reasons = reasons(phone, name)
        XCTAssertEqual(reasons.count, 1, "\(name): \(reasons)", file: file, line: line)
        for word in words {
            XCTAssertTrue(reasons.first?.contains(word) == true, "\(reasons)", file: file, line: line)
        }
        if let value {
            XCTAssertEqual(reasons.first?.contains(value), false, "\(reasons)", file: file, line: line)
        }
        let known = try await phone.engine.diagnostics().undeliveredCount
        XCTAssertEqual(known, 1, "\(name): kept", file: file, line: line)

        try await phone.engine.upload(Sample(id: name, text: "mine"))
        try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), [name], file: file, line: line)
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable], file: file, line: line)
        XCTAssertEqual(parked.map(\.client), [Sample(id: name, text: "mine")], file: file, line: line)
        let after = try await serverRecords()[name]
        XCTAssertEqual(after, before, "\(name): not overwritten", file: file, line: line)

        pass()
        let mended = try RecordEncoder().encode(Sample(id: name, text: "mended")).fields
        // A null removes fields that the repaired record does not have.
        try await serverSave(name, broken.mapValues { _ in .null }.merging(mended) { $1 })
        try await phone.engine.sync()
        let later = try await phone.drain().flatMap(\.models)
        XCTAssertEqual(later, [Sample(id: name, text: "mended")], file: file, line: line)
        let still = try await phone.engine.parkedChanges()
        XCTAssertEqual(still.map(\.client), [Sample(id: name, text: "mine")], file: file, line: line)
    }

    /// B1.
    func testARecordWithAMissingFieldIsReportedAndKept() async throws {
        for field in ["text", "small", "count", "season", "place"] {
            try await assertKept("missing-\(field)", [field: .null], says: field, "not in the record")
        }
    }

    /// B2.
    func testARecordWithAValueOfAnotherTypeIsReportedAndKept() async throws {
        withoutSchema()
        try await assertKept("string-for-int", ["count": "five"], says: "count", "int64", "string")
        try await assertKept("list-for-string", ["text": ["a"]], says: "text", "string", "list")
        try await assertKept("int-in-list", ["list": [1]], says: "list[0]", "string", "int64")
    }

    // B3: the message does not contain the value, which is the user's.
    func testARecordWithANumberOutOfRangeIsReportedAndKept() async throws {
        withoutSchema()
        try await assertKept("too-large", ["small": 300], says: "small", "UInt8", hiding: "300")
        try await assertKept("fraction", ["count": 1.5], says: "count", "Int", hiding: "1.5")
    }

    /// B4.
    func testARecordWithAnUnknownEnumCaseIsReportedAndKept() async throws {
        try await assertKept("unknown-case", ["season": "winter"], says: "season", hiding: "winter")
    }

    /// B5.
    func testARecordWithANullForARequiredFieldIsReportedAndKept() async throws {
        let phone = try makeDevice(Sample.self)
        let before = try await serverSave("a", fields(Sample(id: "a"), [:]))
        try await serverSave("b", fields(Sample(id: "b"), [:]))
        phone.database.changeRecords { record in
            if record.recordID.recordName == "a" { record.fields["text"] = .null }
        }
        try await phone.engine.sync()
        let told = try await phone.drain(leaving: 1)
        XCTAssertEqual(told, [.updated([Sample(id: "b")])])
        XCTAssertEqual(reasons(phone, "a").count, 1)
        XCTAssertTrue(reasons(phone, "a").first?.contains("text") == true)
        try await phone.engine.upload(Sample(id: "a", text: "mine"))
        try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable])
        let after = try await serverRecords()["a"]
        XCTAssertEqual(after, before)
        phone.database.changeFetchAnswers(nil)
        pass()
        try await serverSave("a", fields(Sample(id: "a", text: "mended"), [:]))
        try await phone.engine.sync()
        let later = try await phone.drain()
        XCTAssertEqual(later, [.updated([Sample(id: "a", text: "mended")])])
    }

    /// B6.
    func testAThousandUnknownFieldsAreKeptAndIgnored() async throws {
        let phone = try makeDevice(Sample.self)
        var unknown: [String: RecordValue] = [:]
        for number in 0..<1000 { unknown["unknown\(number)"] = .list([.string("a"), .string("b")]) }
        try await serverSave("a", fields(Sample(id: "a"), unknown))
        try await phone.engine.sync()
        let told = try await phone.drain()
        XCTAssertEqual(told, [.updated([Sample(id: "a")])])
        pass()
        try await phone.engine.upload(Sample(id: "a", text: "mine"))
        try await phone.engine.sync()
        let server = try await serverRecords()["a"]?.fields
        XCTAssertEqual(server?["text"], "mine")
        XCTAssertEqual(server?.filter { $0.key.hasPrefix("unknown") }, unknown)
        XCTAssertEqual(
            phone.database.modifies.last?.saves.first?.fields.keys.sorted(),
            ["codableSyncEdited", "text"]
        )
    }

    /// B7.
    func testAModelWhoseNameDiffersFromItsRecordIsNotDelivered() async throws {
        try await assertKept("name", ["id": "other"], says: "\"name\"", "\"other\"")
        let phone = try makeDevice(Sample.self)
        try await serverSave("a", fields(Sample(id: "another"), [:]))
        try await phone.engine.sync()
        let models = try await phone.engine.models(named: ["a", "another"])
        XCTAssertEqual(models, [])
    }

    /// B11.
    func testARecordWithInvalidNestedJSONIsReportedAndKept() async throws {
        let utf16 = #"{"latitude":1,"longitude":2}"#.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let rows: [(String, Data)] = [
            ("empty", Data()), ("text", Data("x".utf8)), ("truncated", Data(#"{"latitude":1"#.utf8)),
            ("utf16", Data(utf16)),
        ]
        for (name, data) in rows {
            try await assertKept("json-\(name)", ["place": .bytes(data)], says: "place", "JSON")
        }
        let partial = RecordValue.bytes(Data(#"{"latitude":1}"#.utf8))
        try await assertKept("json-partial", ["place": partial], says: "place.longitude")
    }

    /// B16.
    func testARecordOfAnInvalidSchemaIsNotOverwritten() async throws {
        withoutSchema()
        try await assertKept("negative", ["codableSyncSchema": -1], says: "codableSyncSchema")
        try await assertKept("words", ["codableSyncSchema": "abc"], says: "codableSyncSchema")
    }
}

extension ScriptedDatabase {
    /// Changes every record that fetches return.
    func changeRecords(_ change: @escaping @Sendable (inout Record) -> Void) {
        changeFetchAnswers { page in
            var page = page
            page.modifications = page.modifications.mapValues { result in
                result.map { record in
                    var record = record
                    change(&record)
                    return record
                }
            }
            return page
        }
    }
}
