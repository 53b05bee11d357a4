import XCTest

@testable import CodableSync

/// A reference stays in the zone of its record.
final class ReferenceZoneTests: XCTestCase {
    private struct Item: RecordCodable, Identifiable {
        var id: String
        var list: RecordReference?
        var others: [RecordReference] = []
        static func resolveConflict(_ conflict: Conflict<Item>) throws -> Item? { nil }
    }

    func testAReferenceWithAZoneIsRefused() async throws {
        let engine = SyncEngine<Item>(database: FakeCloud().database(user: "alice"))
        let far = RecordReference(recordName: "b", zoneID: ZoneID(zoneName: "Far"))
        for (field, item) in [("list", Item(id: "a", list: far)), ("others", Item(id: "a", others: [far]))] {
            do {
                try await engine.upload(item)
                XCTFail(field)
            } catch let error as SyncError {
                XCTAssertEqual(error.code, .invalidModels)
                let text = "\"\(field)\" is a reference with the zone \"Far\""
                XCTAssertTrue(error.message.contains(text), error.message)
            }
        }
        try await engine.upload(Item(id: "a", list: RecordReference(recordName: "b")))
        do {
            try await engine.edit(named: "a") { $0.list = far }
            XCTFail("an edit")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .invalidModels)
        }
        try await engine.close()
    }
}
