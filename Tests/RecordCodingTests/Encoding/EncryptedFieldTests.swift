import Foundation
import RecordCoding
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

final class EncryptedFieldTests: XCTestCase {
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
