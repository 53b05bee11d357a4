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
        do {
            try await engine.upload(Item(id: "a", list: far), editedFrom: Item(id: "a"))
            XCTFail("a draft")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .invalidModels)
        }
        try await engine.close()
    }

    /// A resolver answers every conflict and deletion with a reference to another zone.
    private struct Misplaced: RecordCodable, Identifiable, Equatable {
        var id: String
        var title = ""
        var list: RecordReference?

        static func resolveConflict(_ conflict: Conflict<Misplaced>) throws -> Misplaced? {
            far(conflict.client)
        }

        static func resolveDeletion(of client: Misplaced) throws -> Misplaced? { far(client) }

        private static func far(_ item: Misplaced) -> Misplaced {
            var item = item
            item.list = RecordReference(recordName: "b", zoneID: ZoneID(zoneName: "Far"))
            return item
        }
    }

    func testAResolverThatReturnsAReferenceWithAZoneParksTheEdit() async throws {
        for isDeleted in [false, true] {
            let cloud = FakeCloud()
            let (phone, tablet) = (Device<Misplaced>(cloud.database()), Device<Misplaced>(cloud.database()))
            try await phone.engine.upload(Misplaced(id: "a"))
            try await phone.engine.sync()
            try await tablet.engine.sync()
            if isDeleted {
                try await tablet.engine.delete(named: ["a"])
            } else {
                try await tablet.engine.edit(named: "a") { $0.title = "tablet" }
            }
            try await tablet.engine.sync()
            try await phone.engine.edit(named: "a") { $0.title = "phone" }
            try await phone.engine.sync()
            let change = try await phone.engine.pendingChanges().first
            guard let reason = change?.parkReason else { return XCTFail("\(isDeleted): \(change as Any)") }
            XCTAssertEqual(reason.kind, .resolverFailed)
            let text = "\"list\" is a reference with the zone \"Far\""
            XCTAssertTrue(reason.message.contains(text), reason.message)
            try await phone.engine.close()
            try await tablet.engine.close()
        }
    }
}
