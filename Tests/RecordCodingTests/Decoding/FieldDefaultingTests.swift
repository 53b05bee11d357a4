import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Records of an older version of a model, which lack fields that the newer one requires.
final class FieldDefaultingTests: XCTestCase {
    private let id = "note-1"

    private func decode<Model: RecordCodable>(
        _ type: Model.Type,
        _ fields: [String: RecordValue]
    ) throws -> Model {
        let fields = fields.merging(["id": .string(id)]) { $1 }
        let record = Record(
            recordType: "Grown",
            recordID: RecordID(recordName: id),
            fields: fields
        )
        return try RecordDecoder().decode(type, from: record)
    }

    private func error<Model: RecordCodable>(_ type: Model.Type, _ fields: [String: RecordValue] = [:])
        -> (error: RecordCodingError?, path: [String])?
    {
        failure { _ = try decode(type, fields) }
    }

    // MARK: Which fields have a default

    /// EV-03.
    func testMissingFieldsAndNullsHaveTheirDefaults() throws {
        let names = ["stars", "kind", "coordinate", "points", "added"]
        let nulls = Dictionary(uniqueKeysWithValues: names.map { ($0, RecordValue.null) })
        for fields in [[:], nulls] {
            let model = try decode(Grown.self, fields)
            XCTAssertEqual(model.id, id)
            XCTAssertEqual(model.stars, 3)
            XCTAssertEqual(model.kind, .autumn)
            XCTAssertEqual(model.coordinate, Grown.fieldDefaults.coordinate)
            XCTAssertEqual(model.points, Grown.fieldDefaults.points)
            XCTAssertEqual(model.added, Grown.fieldDefaults.added)
        }
    }

    func testAStoredValueWinsOverTheDefault() throws {
        let model = try decode(Grown.self, ["stars": 0, "kind": "spring"])
        XCTAssertEqual(model.stars, 0)
        XCTAssertEqual(model.kind, .spring)
    }

    /// CloudKit does not tell a field that was cleared from one that was never set.
    func testAMissingOptionalIsNilAndAMissingListEmptyWhateverTheDefaultsSay() throws {
        XCTAssertNotNil(Grown.fieldDefaults.note)
        XCTAssertNotNil(Grown.fieldDefaults.season)
        for fields in [[:], ["note": .null, "season": .null, "tags": .null]] as [[String: RecordValue]] {
            let model = try decode(Grown.self, fields)
            XCTAssertNil(model.note)
            XCTAssertNil(model.season)
            XCTAssertEqual(model.tags, [])
        }
    }

    /// A property wrapper around an optional is decoded as required.
    func testATypeThatDecodesItselfFromNullNeedsNoDefault() throws {
        XCTAssertEqual(Grown.fieldDefaults.trimmed.text, "default")
        for fields in [[:], ["trimmed": .null]] as [[String: RecordValue]] {
            XCTAssertNil(try decode(Grown.self, fields).trimmed.text)
        }
        XCTAssertNil(try decoded(Box<Trimmed>.self, [:]).value.text)
    }

    func testNestedContainersThatAModelDecodesItselfHaveTheirDefaults() throws {
        let model = try decode(Nesting.self, [:])
        XCTAssertEqual(model.first, 1)
        XCTAssertEqual(model.second, 2)
        XCTAssertEqual(model.list, 3)
        XCTAssertEqual(model.base, 4)
        let stored = try decode(
            Nesting.self,
            ["pair": .bytes(Data(#"{"first":5,"second":6}"#.utf8)), "super": .bytes(Data("8".utf8))]
        )
        XCTAssertEqual([stored.first, stored.second, stored.list, stored.base], [5, 6, 3, 8])
    }

    func testAFieldOfANestedValueHasNoDefault() throws {
        let coordinate = RecordValue.bytes(Data(#"{"latitude":1}"#.utf8))
        let found = error(Grown.self, ["coordinate": coordinate])
        XCTAssertEqual(found?.error, .missingField(field: "coordinate.longitude"))
        // A nested model is no record of its own.
        let outer = RecordValue.bytes(Data(#"{"id":"a"}"#.utf8))
        let nested = failure { _ = try decoded(Box<Grown>.self, ["value": outer]) }
        XCTAssertEqual(nested?.error, .missingField(field: "value.stars"))
    }

    func testATypeThatIsNoModelHasNoDefault() {
        struct Plain: Codable { var stars: Int }
        XCTAssertEqual(
            failure { _ = try decoded(Plain.self, [:]) }?.error,
            .missingField(field: "stars")
        )
    }

    func testTheDefaultsAreEncodedOnceAndOnlyIfAFieldIsMissing() throws {
        _ = try decode(Counting.self, ["a": 1, "b": 2])
        XCTAssertEqual(Counting.encodings.count, 0)
        for _ in 0..<3 {
            let model = try decode(Counting.self, [:])
            XCTAssertEqual([model.a, model.b], [3, 4])
        }
        XCTAssertEqual(Counting.encodings.count, 1)
    }

    // MARK: Defaults that cannot be used

    func testAFieldWithoutADefaultIsMissing() {
        let found = error(Holey.self)
        XCTAssertEqual(
            found?.error,
            .unusableDefaults(field: "stars", reason: "they have no value for it")
        )
        XCTAssertEqual(found?.path, ["stars"])
    }

    func testDefaultsThatCannotBeEncodedAreAnError() {
        guard case .unusableDefaults(field: "ratio", let reason)? = error(Infinite.self)?.error else {
            return XCTFail("\(String(describing: error(Infinite.self)))")
        }
        XCTAssertTrue(reason.contains("inf"), reason)
        guard case .unusableDefaults(field: "a", let thrown)? = error(Failing.self)?.error else {
            return XCTFail("\(String(describing: error(Failing.self)))")
        }
        XCTAssertTrue(thrown.contains("Refused"), thrown)
    }

    func testDefaultsThatDecodeTheirOwnModelDoNotRecurse() throws {
        XCTAssertEqual(try decode(Recursive.self, [:]).stars, 7)
        XCTAssertEqual(try decode(Recursive.self, ["stars": 1]).stars, 1)
    }

    // MARK: Messages

    func testTheErrorForAMissingFieldNamesBothRemedies() {
        let message = failure { _ = try decoded(Box<Int>.self, [:]) }?.error?.message
        XCTAssertEqual(
            message,
            "The field \"value\" is not in the record. Make it optional, or conform the model to FieldDefaulting."
        )
    }

    func testTheErrorForAMissingNestedFieldDoesNotNameDefaults() {
        let json = RecordValue.bytes(Data("[[{}]]".utf8))
        let message = failure { _ = try decoded(Box<[[Everything.Coordinate]]>.self, ["value": json]) }?
            .error?
            .message
        XCTAssertEqual(
            message,
            "The field \"value[0][0].latitude\" is not in the record. Make it optional, or give it a value in "
                + "init(from:)."
        )
    }

    func testTheErrorForADefaultWithoutAValueSaysWhereItIsMissing() {
        XCTAssertEqual(
            error(Holey.self)?.error?.message,
            "The field \"stars\" is not in the record. The model's fieldDefaults cannot be used: they have no "
                + "value for it."
        )
    }

    // MARK: Merges

    private func merged(client: Grown, server: Grown, ancestor: Grown?, isClientLater: Bool) throws -> Grown {
        try Conflict(
            client: client,
            server: server,
            ancestor: ancestor,
            clientEdited: Date(timeIntervalSince1970: isClientLater ? 2 : 1),
            serverEdited: Date(timeIntervalSince1970: isClientLater ? 1 : 2)
        ).merged()
    }

    /// A record without the field is decoded with the default on each side.
    func testADefaultNeverWinsOverAnotherDevicesValue() throws {
        let bare = try decode(Grown.self, [:])
        var rated = bare
        rated.stars = 5
        for ancestor in [bare, nil] {
            for isClientLater in [true, false] {
                let first = try merged(
                    client: bare,
                    server: rated,
                    ancestor: ancestor,
                    isClientLater: isClientLater
                )
                XCTAssertEqual(first.stars, 5)
                let second = try merged(
                    client: rated,
                    server: bare,
                    ancestor: ancestor,
                    isClientLater: isClientLater
                )
                XCTAssertEqual(second.stars, 5)
            }
        }
    }

    func testWithAnAncestorAnEditBackToTheDefaultCounts() throws {
        let bare = try decode(Grown.self, [:])
        var rated = bare
        rated.stars = 5
        XCTAssertEqual(
            try merged(client: bare, server: rated, ancestor: rated, isClientLater: false).stars,
            3
        )
    }

    func testUnusableDefaultsFailAMergeWithoutAnAncestor() throws {
        let model = try decode(Infinite.self, ["ratio": 1])
        let conflict = Conflict(
            client: model,
            server: model,
            clientEdited: .distantPast,
            serverEdited: .distantPast
        )
        guard case .unusableDefaults? = failure(of: { _ = try conflict.merged() })?.error else {
            return XCTFail("The merge should fail.")
        }
    }
}
