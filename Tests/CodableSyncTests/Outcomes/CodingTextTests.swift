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

    /// An empty list is stored as no field.
    func testAModelThatCannotBeDecodedAsItIsSavedIsRefused() async throws {
        let refused = await refusal(RequiresTags(id: "a", tags: []))
        XCTAssertEqual(refused?.code, .invalidModels)
        XCTAssertTrue(refused?.message.contains("No tags.") == true, "\(String(describing: refused))")
        let accepted = await refusal(RequiresTags(id: "a", tags: ["x"]))
        XCTAssertNil(accepted)
        let engine = SyncEngine<RequiresTags>(database: FakeCloud().database())
        try await engine.upload(RequiresTags(id: "a", tags: ["x"]))
        do {
            try await engine.edit(named: "a") { $0.tags = [] }
            XCTFail("The edit is accepted.")
        } catch {
            XCTAssertEqual((error as? SyncError)?.code, .invalidModels, "\(error)")
        }
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

/// Its own code requires the field of a list.
private struct RequiresTags: RecordCodable, Identifiable {
    struct NoTags: LocalizedError {
        var errorDescription: String? { "No tags." }
    }

    var id: String
    var tags: [String]

    init(id: String, tags: [String]) { (self.id, self.tags) = (id, tags) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        guard container.contains(.tags) else { throw NoTags() }
        tags = try container.decode([String].self, forKey: .tags)
    }

    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
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
