import XCTest

@testable import CodableSync

/// Edits of records that an earlier version of the app has written, without a field that has a default.
final class DefaultValueScenarios: EngineScenario {
    /// A device that has shown a record without a count, which reads show as 3.
    private func makePhone() async throws -> Device<Counted> {
        let old = try makeDevice(Uncounted.self)
        try await old.engine.upload(Uncounted(id: "A", title: "title"))
        try await old.engine.sync()
        let phone = try makeDevice(Counted.self)
        try await phone.engine.sync()
        try await show(phone)
        pass()
        return phone
    }

    /// The resolver keeps the cloud's version.
    func testADraftOfADefaultValueIsSavedWithoutAConflict() async throws {
        let phone = try await makePhone()
        let read = try await phone.engine.model(named: "A")
        let original = try XCTUnwrap(read)
        var draft = original
        draft.count = 5
        try await phone.engine.upload(draft, editedFrom: original)
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.conflictsResolved, 0)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["count"], 5)
    }
}

/// The first version.
private struct Uncounted: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var title: String

    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<Uncounted>) throws -> Uncounted? { conflict.server }
}

/// Adds a count, and keeps the cloud's version in conflicts.
private struct Counted: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var title: String
    var count = 3

    var recordName: String { id }

    init(id: String, title: String, count: Int = 3) {
        (self.id, self.title, self.count) = (id, title, count)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        title = try container.decode(String.self, forKey: .title)
        count = try container.decodeIfPresent(Int.self, forKey: .count) ?? 3
    }

    static func resolveConflict(_ conflict: Conflict<Counted>) throws -> Counted? { conflict.server }
}
