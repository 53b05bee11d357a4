import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Record types and their fields, found by what a model encodes.
final class RecordSchemaTests: XCTestCase {
    private enum Mood: String, Codable { case good, bad }
    private enum Level: Int, Codable { case low, high }

    private struct Tag: Codable, Hashable {
        var text: String

        init(_ text: String) { self.text = text }
        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    private struct Place: Codable, Hashable { var latitude = 1.0 }

    private struct Everything: RecordCodable, SystemFieldsStoring {
        static let schemaVersion = 2
        @TaskLocal static var encryptedFields: [String] = []

        var systemFields: Data?
        var string: String? = "a"
        var uuid: UUID? = UUID()
        var web: URL? = URL(string: "https://example.com/")
        var flag: Bool? = true
        var number: Int? = 1
        var small: UInt8? = 1
        var double: Double? = 1.5
        var float: Float? = 1.5
        var date: Date? = Date(timeIntervalSince1970: 1)
        var data: Data? = Data([1])
        var reference: RecordReference? = RecordReference(recordName: "b")
        var location: RecordLocation? = RecordLocation(latitude: 1, longitude: 2)
        var mood: Mood? = .good
        var level: Level? = .high
        var tag: Tag? = Tag("t")
        var strings: [String]? = ["a"]
        var moods: [Mood]? = [.good]
        var tags: [Tag]? = [Tag("t")]
        var dates: [Date]? = [Date(timeIntervalSince1970: 1)]
        var place: Place? = Place()
        var places: [Place]? = [Place()]
        var names: [String: String]? = ["a": "b"]

        var recordName: String { "name" }
        static func resolveConflict(_ conflict: Conflict<Everything>) throws -> Everything? { nil }
    }

    /// The kinds of a record's values, as a schema would have them.
    private func kinds(_ record: Record) -> [String: String] {
        record.fields.compactMapValues { value in
            if case .list(let elements) = value { return elements.first.map { "\($0.kind) list" } }
            return value == .null ? nil : "\(value.kind)"
        }
    }

    private func kinds(_ schema: RecordSchema) -> [String: String] {
        schema.fields.filter { !$0.key.hasPrefix("codableSync") }
            .mapValues { "\($0.kind)\($0.isList ? " list" : "")" }
    }

    func testKindsAreThoseOfTheEncoder() throws {
        let record = try RecordEncoder().encode(Everything())
        let expected = kinds(record)
        XCTAssertEqual(expected.count, 22)
        XCTAssertEqual(kinds(try RecordSchema(of: Everything())), expected)
    }

    func testNilAndEmptyListsHaveTheKindsOfTheirTypes() throws {
        let expected = kinds(try RecordEncoder().encode(Everything()))
        var sample = Everything()
        sample = try JSONDecoder().decode(Everything.self, from: Data("{}".utf8))
        XCTAssertEqual(kinds(try RecordSchema(of: sample)), expected)
        sample.strings = []
        sample.tags = []
        XCTAssertEqual(kinds(try RecordSchema(of: sample)), expected)
    }

    func testTheEnginesFieldsArePartOfIt() throws {
        let schema = try RecordSchema(of: Everything())
        XCTAssertEqual(schema.recordType, "Everything")
        XCTAssertEqual(schema.fields["codableSyncEdited"]?.kind, .date)
        XCTAssertEqual(schema.fields["codableSyncSchema"]?.kind, .int64)
        XCTAssertNil(try RecordSchema(of: Plain(id: "a")).fields["codableSyncSchema"])
        XCTAssertNil(schema.fields["systemFields"])
    }

    private struct Plain: RecordCodable, Identifiable {
        var id: String
        var grant = 1
        static func resolveConflict(_ conflict: Conflict<Plain>) throws -> Plain? { nil }
    }

    // MARK: Own containers

    private struct Custom: RecordCodable {
        enum Key: String, CodingKey { case keyed, unkeyed, null, later, twice }
        var hasNull = false

        var recordName: String { "name" }
        init(hasNull: Bool) { self.hasNull = hasNull }
        init(from decoder: any Decoder) throws {}
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            var keyed = container.nestedContainer(keyedBy: Key.self, forKey: .keyed)
            try keyed.encode(1, forKey: .later)
            var unkeyed = container.nestedUnkeyedContainer(forKey: .unkeyed)
            try unkeyed.encode("a")
            try container.encodeNil(forKey: .later)
            try container.encode(1, forKey: .later)
            try container.encode(1, forKey: .twice)
            try container.encodeNil(forKey: .twice)
            if hasNull { try container.encodeNil(forKey: .null) }
        }
        static func resolveConflict(_ conflict: Conflict<Custom>) throws -> Custom? { nil }
    }

    func testNestedContainersAreBytes() throws {
        let schema = try RecordSchema(of: Custom(hasNull: false))
        XCTAssertEqual(
            kinds(schema),
            ["keyed": "bytes", "unkeyed": "bytes", "later": "int64", "twice": "int64"]
        )
    }

    func testANullWithoutATypeIsRefused() {
        XCTAssertThrowsError(try RecordSchema(of: Custom(hasNull: true))) {
            XCTAssertEqual(
                reason($0),
                "The field \"null\" has no place in a schema: its type cannot be told from a null; use a sample that has a value."
            )
        }
    }

    private struct Attachment: RecordCodable, Identifiable {
        var id = "a"
        var file: URL? = URL(filePath: "/tmp/file")
        var files: [URL] = []
        var asset: RecordAsset?
        static func resolveConflict(_ conflict: Conflict<Attachment>) throws -> Attachment? { nil }
    }

    func testAFileIsRefusedAsUploadRefusesIt() {
        XCTAssertThrowsError(try RecordSchema(of: Attachment())) {
            XCTAssertEqual(
                reason($0),
                "The field \"asset\" has no place in a schema: a file is an asset, which no engine uploads; store its "
                    + "bytes as Data."
            )
        }
    }

    private func reason(_ error: any Error) -> String? {
        guard case .invalidValue(_, let context)? = error as? EncodingError else { return nil }
        XCTAssertNotNil(context.underlyingError as? RecordCodingError)
        return context.debugDescription
    }

    // MARK: What cannot be a record

    private struct Unfit: RecordCodable {
        static var recordType: String { "Users" }
        var recordName: String { "name" }
        static func resolveConflict(_ conflict: Conflict<Unfit>) throws -> Unfit? { nil }
    }

    private struct BadKey: RecordCodable {
        var recordID = "a"
        var recordName: String { "name" }
        static func resolveConflict(_ conflict: Conflict<BadKey>) throws -> BadKey? { nil }
    }

    private struct Single: RecordCodable {
        var recordName: String { "name" }
        init() {}
        init(from decoder: any Decoder) throws {}
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }
        static func resolveConflict(_ conflict: Conflict<Single>) throws -> Single? { nil }
    }

    func testWhatTheEncoderRefusesHasNoSchema() {
        XCTAssertThrowsError(try RecordSchema(of: Unfit())) { XCTAssertNotNil(reason($0)) }
        XCTAssertThrowsError(try RecordSchema(of: BadKey())) { XCTAssertNotNil(reason($0)) }
        XCTAssertThrowsError(try RecordSchema(of: Single())) { XCTAssertNotNil(reason($0)) }
    }

    // MARK: Encryption

    func testFieldsAreEncryptedIfCloudKitCan() throws {
        let names = ["string", "number", "double", "date", "data", "location", "strings", "place"]
        let schema = try Everything.$encryptedFields.withValue(names) { try RecordSchema(of: Everything()) }
        XCTAssertEqual(Set(schema.fields.filter(\.value.isEncrypted).keys), Set(names))
        for name in ["reference", "asset", "unknown"] {
            try Everything.$encryptedFields.withValue([name]) {
                XCTAssertThrowsError(try RecordSchema(of: Everything())) {
                    XCTAssertEqual(reason($0)?.contains("\"\(name)\""), true, "\($0)")
                }
            }
        }
    }

    // MARK: CloudKit's schema language

    func testTheTextIsInCloudKitsSchemaLanguage() throws {
        let schema = try Everything.$encryptedFields.withValue(["string", "dates"]) {
            try RecordSchema(of: Everything())
        }
        XCTAssertEqual(
            RecordSchema.text(for: [schema]),
            """
            DEFINE SCHEMA

                RECORD TYPE Everything (
                    "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                    "___createdBy" REFERENCE,
                    "___etag" STRING,
                    "___modTime" TIMESTAMP QUERYABLE SORTABLE,
                    "___modifiedBy" REFERENCE,
                    "___recordID" REFERENCE QUERYABLE,
                    codableSyncEdited TIMESTAMP,
                    codableSyncSchema INT64,
                    data BYTES,
                    date TIMESTAMP,
                    dates LIST<ENCRYPTED TIMESTAMP>,
                    "double" DOUBLE,
                    flag INT64,
                    float DOUBLE,
                    level INT64,
                    "location" LOCATION,
                    mood STRING,
                    moods LIST<STRING>,
                    names BYTES,
                    "number" INT64,
                    place BYTES,
                    places BYTES,
                    "reference" REFERENCE,
                    small INT64,
                    "string" ENCRYPTED STRING,
                    strings LIST<STRING>,
                    tag STRING,
                    tags LIST<STRING>,
                    uuid STRING,
                    web STRING,
                    GRANT WRITE TO "_creator",
                    GRANT CREATE TO "_icloud",
                    GRANT READ TO "_world"
                );

            """
        )
    }

    func testTypesAreSortedAndReservedWordsQuoted() throws {
        let schemas = [try RecordSchema(of: Plain(id: "a")), try RecordSchema(of: Everything())]
        let text = RecordSchema.text(for: schemas)
        XCTAssertEqual(text, RecordSchema.text(for: schemas.reversed()))
        XCTAssertTrue(text.contains("\n        \"grant\" INT64,\n"), text)
        let types = text.components(separatedBy: "RECORD TYPE ").dropFirst().map { $0.prefix { $0 != " " } }
        XCTAssertEqual(types, ["Everything", "Plain"])
        XCTAssertTrue(text.contains("    );\n\n    RECORD TYPE Plain ("), text)
    }
}
