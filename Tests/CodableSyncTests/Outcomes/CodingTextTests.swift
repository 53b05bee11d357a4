import Foundation
import XCTest

@testable import CodableSync

/// What an app is told about a model or a record that cannot be coded: where, why, and what to do, without
/// the contents.
final class CodingTextTests: XCTestCase {
    private let coding = ModelCoding<Priced>(zoneID: ZoneID(zoneName: "Priced"), writesEditDates: false)

    /// The text for a record of a model with these fields.
    private func text(_ fields: [String: RecordValue]) -> String {
        let valid: [String: RecordValue] = ["id": "a", "price": 1, "kind": "city", "code": "x"]
        let record = Record(
            recordType: "Priced",
            recordID: RecordID(recordName: "a", zoneID: coding.zoneID),
            fields: valid.merging(fields) { $1 }
        )
        do {
            try coding.check(record)
            return "none"
        } catch {
            return coding.describe(error)
        }
    }

    private func refusal<Model: RecordCodable>(_ model: Model) async -> SyncError? {
        do {
            try await SyncEngine<Model>(database: FakeCloud().database()).upload(model)
            return nil
        } catch {
            return error as? SyncError
        }
    }

    func testTheTextOfTheModelsOwnDecodingIsShown() {
        XCTAssertEqual(text([:]), "none")
        XCTAssertEqual(text(["price": -1]), "price: A price is never negative.")
        XCTAssertEqual(text(["price": 1000]), "The model's code threw: Too expensive.")
    }

    /// The standard library's text would quote the stored value.
    func testAValueThatATypeRefusesIsNotShown() {
        XCTAssertEqual(
            text(["kind": "secret"]),
            "kind: The stored value isn't valid for this property. Update the app, or decode such a value as "
                + "another."
        )
        let code = text(["code": "secret"])
        XCTAssertTrue(code.hasPrefix("code: The stored value isn't valid for this property."), code)
    }

    func testARefusedModelSaysHowToNameItsFieldsAndItsRecordType() async {
        let reserved = await refusal(Hierarchical(id: "a"))
        XCTAssertEqual(reserved?.code, .invalidModels)
        XCTAssertTrue(
            reserved?.message.hasSuffix(
                "Give the properties other names in CodingKeys: case parent = \"parentID\", "
                    + "case share = \"shareID\"."
            ) == true,
            "\(String(describing: reserved))"
        )
        let generic = await refusal(Generic(id: "a", value: 1))
        XCTAssertEqual(generic?.code, .configuration)
        XCTAssertTrue(
            generic?.message.hasSuffix("static var recordType: String { \"GenericInt\" }.") == true,
            "\(String(describing: generic))"
        )
    }
}

private struct Priced: RecordCodable, Identifiable {
    enum Kind: String, Codable { case city }

    struct Code: RawRepresentable, Codable, Sendable {
        var rawValue: String
        init?(rawValue: String) {
            guard rawValue.count == 1 else { return nil }
            self.rawValue = rawValue
        }
    }

    struct TooExpensive: LocalizedError {
        var errorDescription: String? { "Too expensive." }
    }

    var id: String
    var price: Int
    var kind: Kind
    var code: Code

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        price = try container.decode(Int.self, forKey: .price)
        kind = try container.decode(Kind.self, forKey: .kind)
        code = try container.decode(Code.self, forKey: .code)
        if price < 0 {
            throw DecodingError.dataCorruptedError(
                forKey: .price,
                in: container,
                debugDescription: "A price is never negative."
            )
        }
        if price > 100 { throw TooExpensive() }
    }

    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}

private struct Hierarchical: RecordCodable, Identifiable {
    var id: String
    var parent: String?
    var share = [1]

    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}

private struct Generic<Value: Codable & Sendable>: RecordCodable, Identifiable {
    var id: String
    var value: Value

    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}
