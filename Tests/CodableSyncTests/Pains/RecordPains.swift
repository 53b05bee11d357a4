import Foundation
import XCTest

@testable import CodableSync

/// Links between records, and records of any size.
final class RecordPains: EngineScenario {
    private struct Leaf: RecordCodable, Equatable {
        static var recordType: String { "Item" }

        var id: String
        var owner: RecordReference?
        var siblings: [RecordReference] = []

        var recordName: String { id }
        static func resolveConflict(_ conflict: Conflict<Leaf>) throws -> Leaf? { try conflict.merged() }
    }

    private func permutations<Element>(of elements: [Element]) -> [[Element]] {
        if elements.count < 2 { return [elements] }
        return elements.indices.flatMap { index in
            var others = elements
            let first = others.remove(at: index)
            return permutations(of: others).map { [first] + $0 }
        }
    }

    private var family: [Leaf] {
        let children = ["child-1", "child-2", "child-3"]
        return [Leaf(id: "parent")]
            + children.map { child in
                Leaf(
                    id: child,
                    owner: RecordReference(recordName: "parent"),
                    siblings: children.filter { $0 != child }.map { RecordReference(recordName: $0) }
                )
            }
    }

    // P-39
    func testLinksSurviveEveryOrderOfArrival() async throws {
        let expected = family.sorted { $0.id < $1.id }
        // Every second order, unless all cases are requested.
        let orders = permutations(of: family)
        for order in Cases.places(every: 2, below: orders.count).map({ orders[$0] }) {
            let names = order.map(\.id).joined(separator: ", ")
            let cloud = FakeCloud()
            let phone = Device<Leaf>(cloud.database(), clock: clock)
            phone.database.setLimits(DatabaseLimits(maximumItems: 1, maximumBytes: 1_000_000))
            let tablet = Device<Leaf>(cloud.database(), clock: clock) { $0.fetchPageSize = 1 }
            // Each record is sent and fetched on its own, and delivered in this order.
            for leaf in order {
                try await phone.engine.upload(leaf)
                try await phone.engine.sendChanges()
            }
            _ = try await tablet.drain()
            try await tablet.engine.fetchChanges()
            XCTAssertEqual(tablet.database.count(.fetch), 4, names)
            let told = try await tablet.drain().flatMap(\.models)
            XCTAssertEqual(told, order, names)
            let models = try await tablet.engine.allModels()
            XCTAssertEqual(models, expected, names)
            // A link is a stored ID; its target need not exist.
            try await phone.engine.delete(named: ["parent"])
            try await settle(phone, tablet)
            let left = try await tablet.engine.allModels()
            XCTAssertEqual(left, expected.filter { $0.id != "parent" }, names)
        }
    }

    // P-40
    func testAParentWithAThousandChildrenSyncs() async throws {
        let children = (0..<1000).map {
            Leaf(id: String(format: "child-%04d", $0), owner: RecordReference(recordName: "parent"))
        }
        let (phone, tablet) = (try makeDevice(Leaf.self), try makeDevice(Leaf.self))
        try await phone.engine.upload([Leaf(id: "parent")] + children)
        try await phone.engine.sync()
        try await tablet.engine.sync()
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, children + [Leaf(id: "parent")])
        let parked = try await phone.engine.diagnostics().parkedCount
        XCTAssertEqual(parked, 0)
        // The server doesn't cascade deletions; only the records that a device names are deleted.
        try await tablet.engine.delete(named: ["parent"] + children.prefix(999).map(\.id))
        try await tablet.engine.sync()
        try await phone.engine.sync()
        let left = try await phone.engine.allModels()
        XCTAssertEqual(left, [children[999]])
    }

    // P-48
    func testTheLargestRecordThatAServerAcceptsCanBeStored() async throws {
        let cloud = try makeLocalCloud()
        let directory = try TemporaryDirectory()
        addTeardownBlock { try directory.remove() }
        let phone = Device<Note>(cloud.connect(), clock: clock, files: LocalFileSystem()) {
            $0.storage = .directory(directory.url)
        }
        let tablet = Device<Note>(cloud.connect(), clock: clock)
        let coding = ModelCoding<Note>(zoneID: ZoneID(zoneName: "Item"), writesEditDates: true)
        let overhead = try coding.encode(Note("large"), edited: clock.now.wall).size
        let room = RecordLimits.maximumRecordBytes - overhead
        let largest = Note("large", String(repeating: "x", count: room))
        XCTAssertEqual(try coding.encode(largest, edited: clock.now.wall).size, 1_000_000)

        try await phone.engine.upload(largest)
        try await phone.restart()
        var model = try await phone.engine.model(named: "large")
        XCTAssertEqual(model, largest)
        try await settle(phone, tablet)
        model = try await tablet.engine.model(named: "large")
        XCTAssertEqual(model, largest)
        do {
            try await phone.engine.upload(Note("large", String(repeating: "y", count: room + 1)))
            XCTFail("A record that is one byte too large was accepted.")
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertTrue(error.message.contains("1000001 bytes"), error.message)
        }
        model = try await phone.engine.model(named: "large")
        XCTAssertEqual(model, largest)
    }
}
