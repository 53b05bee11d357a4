import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// A model with fields that CloudKit encrypts.
private struct Patient: RecordCodable {
    static let encryptedFields = ["diagnosis", "visits", "place"]

    var recordName = "p"
    var name = ""
    var diagnosis: String?
    var visits: [Date] = []
    var place: RecordLocation?

    static func resolveConflict(_ conflict: Conflict<Patient>) throws -> Patient? { nil }
}

private struct Misspelled: RecordCodable {
    static let encryptedFields = ["title", "titel"]

    var recordName = "m"
    var title = ""

    static func resolveConflict(_ conflict: Conflict<Misspelled>) throws -> Misspelled? { nil }
}

private struct Owned: RecordCodable {
    static let encryptedFields = ["value"]

    enum Value {
        case reference(RecordReference), references([RecordReference]), file(URL), nothing
    }

    var recordName = "o"
    var value: Value

    enum CodingKeys: CodingKey { case recordName, value }

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws { value = .nothing }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        switch value {
        case .reference(let reference): try container.encode(reference, forKey: .value)
        case .references(let references): try container.encode(references, forKey: .value)
        case .file(let file): try container.encode(file, forKey: .value)
        case .nothing: try container.encodeNil(forKey: .value)
        }
    }

    static func resolveConflict(_ conflict: Conflict<Owned>) throws -> Owned? { nil }
}

/// Leaves out what is `nil`; its keys are an enum.
private struct Sparse: RecordCodable {
    static let encryptedFields = ["note"]

    var recordName = "s"
    var note: String?

    enum CodingKeys: String, CodingKey { case recordName, text = "note" }

    init(_ note: String?) { self.note = note }

    init(from decoder: any Decoder) throws {
        note = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .text)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        if let note { try container.encode(note, forKey: .text) }
    }

    static func resolveConflict(_ conflict: Conflict<Sparse>) throws -> Sparse? { nil }
}

/// Leaves out what is `nil`, and names the case instead of the key.
private struct SparseMisspelled: RecordCodable {
    static let encryptedFields = ["text"]

    var recordName = "s"
    var text: String?

    enum CodingKeys: String, CodingKey { case recordName, text = "note" }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        if let text { try container.encode(text, forKey: .text) }
    }

    static func resolveConflict(_ conflict: Conflict<SparseMisspelled>) throws -> SparseMisspelled? { nil }
}

/// Leaves out what is `nil`; its keys can have any name.
private struct SparseOpen: RecordCodable {
    static let encryptedFields = ["text"]

    struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    var recordName = "s"
    var text: String?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(recordName, forKey: AnyKey(stringValue: "recordName"))
        if let text { try container.encode(text, forKey: AnyKey(stringValue: "text")) }
    }

    static func resolveConflict(_ conflict: Conflict<SparseOpen>) throws -> SparseOpen? { nil }
}

final class EncryptedFieldTests: XCTestCase {
    func testAModelMayLeaveOutWhatIsNilIfItsKeysAreAnEnum() throws {
        XCTAssertEqual(try RecordEncoder().encode(Sparse("x")).encryptedFields, ["note"])
        let record = try RecordEncoder().encode(Sparse(nil))
        XCTAssertEqual(record.encryptedFields, ["note"])
        XCTAssertNil(record.fields["note"])
    }

    func testAMisspelledNameIsRefusedWhateverTheValue() throws {
        for text in [nil, "x"] {
            let failure = failure { _ = try RecordEncoder().encode(SparseMisspelled(text: text)) }
            XCTAssertEqual(
                failure?.error,
                .unknownEncryptedField(field: "text", model: "SparseMisspelled")
            )
        }
    }

    func testKeysThatCanHaveAnyNameTellNothing() throws {
        XCTAssertNoThrow(try RecordEncoder().encode(SparseOpen(text: "x")))
        let failure = failure { _ = try RecordEncoder().encode(SparseOpen(text: nil)) }
        XCTAssertEqual(failure?.error, .unknownEncryptedField(field: "text", model: "SparseOpen"))
    }

    func testARecordNamesTheFieldsToEncrypt() throws {
        let record = try RecordEncoder().encode(Patient())
        XCTAssertEqual(record.encryptedFields, ["diagnosis", "visits", "place"])
        XCTAssertEqual(record.fields["diagnosis"], .null, "an absent value can be encrypted")
        XCTAssertEqual(try RecordEncoder().encode(Note()).encryptedFields, [])
    }

    func testTheNamesStayWithTheRecordWhenOtherPartsChange() throws {
        var record = try RecordEncoder().encode(Patient())
        record.systemFields = SystemFields(recordChangeTag: "1")
        record.parent = RecordReference(recordName: "q")
        XCTAssertEqual(record.encryptedFields.count, 3)
        record.encryptedFields = ["name"]
        XCTAssertEqual(record.recordChangeTag, "1")
        XCTAssertEqual(record.parent?.recordName, "q")
        XCTAssertEqual(record.encryptedFields, ["name"])
    }

    func testTheNamesAreNotStored() throws {
        let record = try RecordEncoder().encode(Patient())
        XCTAssertEqual(try RecordJSON.decode(RecordJSON.encode(record)).encryptedFields, [])
    }

    func testANameThatIsNoFieldIsRefused() {
        let failure = failure { _ = try RecordEncoder().encode(Misspelled()) }
        XCTAssertEqual(failure?.error, .unknownEncryptedField(field: "titel", model: "Misspelled"))
        let message = failure?.error?.message ?? ""
        XCTAssertTrue(message.hasPrefix("Misspelled.encryptedFields names \"titel\", "), message)
    }

    func testReferencesAndAssetsAreRefused() throws {
        let reference = RecordReference(recordName: "r")
        let rows: [(Owned.Value, String)] = [
            (.reference(reference), "reference"), (.references([reference]), "reference"),
            (.file(URL(filePath: "/tmp/photo")), "asset"),
        ]
        for (value, kind) in rows {
            let failure = failure { _ = try RecordEncoder().encode(Owned(value)) }
            XCTAssertEqual(failure?.error, .unencryptableField(field: "value", kind: kind))
        }
        XCTAssertNoThrow(try RecordEncoder().encode(Owned(.nothing)))
        XCTAssertNoThrow(try RecordEncoder().encode(Owned(.references([]))))
    }

    func testARecordFromAnotherSourceIsCheckedToo() {
        var record = Record(recordType: "T", recordID: RecordID(recordName: "a"), fields: ["x": "plain"])
        record.encryptedFields = ["x", "absent"]
        XCTAssertNoThrow(try RecordLimits.check(record))
        record.fields["x"] = .list([.reference(RecordReference(recordName: "b"))])
        XCTAssertThrowsError(try RecordLimits.check(record)) {
            XCTAssertEqual(
                $0 as? RecordCodingError,
                .unencryptableField(field: "x", kind: "reference")
            )
        }
    }
}
