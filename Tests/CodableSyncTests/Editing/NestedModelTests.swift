import XCTest

@testable import CodableSync

/// A model that is nested to the limit goes through every part of an engine.
final class NestedModelTests: EngineScenario {
    private struct Tree: Codable, Hashable {
        var name = ""
        var children: [Tree] = []

        static func make(levels: Int) -> Tree {
            (0..<levels / 2).reduce(Tree()) { Tree(name: "\($1)", children: [$0]) }
        }
    }

    private struct Outline: RecordCodable, Hashable {
        static var recordType: String { "Item" }
        var id: String
        var title = ""
        var tree: Tree
        var recordName: String { id }

        static func resolveConflict(_ conflict: Conflict<Outline>) throws -> Outline? {
            try conflict.merged()
        }
    }

    func testItIsSentMergedAndDelivered() async throws {
        let (phone, tablet) = (try makeDevice(Outline.self), try makeDevice(Outline.self))
        let outline = Outline(id: "a", tree: .make(levels: 62))
        try await phone.engine.upload(outline)
        try await settle(phone, tablet)
        let delivered = try await tablet.drain().flatMap(\.models)
        XCTAssertEqual(delivered, [outline])
        try await phone.engine.edit(outline) { $0.tree.name = "root" }
        try await tablet.engine.edit(outline) { $0.title = "theirs" }
        try await settle(phone, tablet, phone)
        try await phone.restart()
        let merged = try await phone.engine.model(named: "a")
        XCTAssertEqual(merged?.title, "theirs")
        XCTAssertEqual(merged?.tree.name, "root")
        XCTAssertEqual(merged?.tree.children, outline.tree.children)
        try await assertEqualEverywhere(phone, tablet)
    }

    func testOneThatIsNestedTooDeepIsRefused() async throws {
        let phone = try makeDevice(Outline.self)
        do {
            try await phone.engine.upload(Outline(id: "a", tree: .make(levels: 70)))
            XCTFail("it was taken")
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertTrue(error.message.contains("64"), error.message)
            XCTAssertEqual(error.recordNames, ["a"])
        }
    }
}
