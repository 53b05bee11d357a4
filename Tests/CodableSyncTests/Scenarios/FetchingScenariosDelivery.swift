import XCTest

@testable import CodableSync

/// Scenarios, group C: delivering fetched changes to the app.
class FetchingScenariosDelivery: EngineScenario {
    /// FD-09.
    func testAStoredPageIsDeliveredAfterACrash() async throws {
        let disk = SimulatedFileSystem()
        let phone = try makeDevice(Note.self, on: disk)
        try await fill(phone.database, 3)
        try await phone.engine.fetchChanges()
        // Pages are flushed once the engine is idle.
        await phone.engine.waitUntilIdle()
        let (again, _) = try await crash(phone, on: disk)
        again.database.isReachable = false
        let names = try await again.drain().flatMap(\.names)
        XCTAssertEqual(names.sorted(), ["r-0", "r-1", "r-2"])
    }

    /// FD-10.
    func testUnacceptedChangesAreDeliveredAgainAfterACrash() async throws {
        let disk = SimulatedFileSystem()
        let phone = try makeDevice(Note.self, on: disk)
        try await fill(phone.database, 3)
        try await phone.engine.fetchChanges()
        let first = await phone.peek()
        XCTAssertEqual(first?.names.sorted(), ["r-0", "r-1", "r-2"])
        let (again, _) = try await crash(phone, on: disk, keeping: .allWrites)
        let names = try await again.drain().flatMap(\.names)
        XCTAssertEqual(names.sorted(), ["r-0", "r-1", "r-2"])
    }

    /// FD-11.
    func testAcceptedChangesAreNotDeliveredAgain() async throws {
        let disk = SimulatedFileSystem()
        let phone = try makeDevice(Note.self, on: disk)
        try await fill(phone.database, 3)
        try await phone.engine.fetchChanges()
        _ = try await phone.drain()
        try await phone.restart()
        let restarted = try await phone.drain()
        XCTAssertEqual(restarted, [])
        let (again, _) = try await crash(phone, on: disk, keeping: .allWrites)
        let crashed = try await again.drain()
        XCTAssertEqual(crashed, [])
        try await again.engine.sync()
        let synced = try await again.drain()
        XCTAssertEqual(synced, [])
    }

    /// FD-12.
    func testALateConsumerGetsEveryChange() async throws {
        let (phone, tablet) = try await makePair(Note("a"), Note("b"))
        try await tablet.engine.upload([Note("a", "new"), Note("c")])
        try await tablet.engine.delete(named: ["b"])
        try await tablet.engine.sync()
        try await phone.engine.fetchChanges()
        try await phone.engine.fetchChanges()
        let changes = try await phone.drain()
        XCTAssertEqual(changes.flatMap(\.names).sorted(), ["a", "b", "c"])
        XCTAssertTrue(changes.contains(.deleted(["b"])))
        XCTAssertEqual(Set(changes.flatMap(\.models).map(\.title)), ["new", ""])
    }

    /// FD-13.
    func testACanceledConsumerLeavesTheRestToTheNext() async throws {
        let phone = try makeDevice(Note.self)
        try await fill(phone.database, 450)
        try await phone.engine.fetchChanges()
        let changes = phone.engine.changes
        let loop = Task {
            var taken: [[String]] = []
            for await change in changes {
                taken.append(change.names)
                if taken.count == 2 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return taken
        }
        let taken = await loop.value
        XCTAssertEqual(taken.map(\.count), [200, 200])
        let rest = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(rest.count, 250)
        XCTAssertEqual(Set(rest + taken[0]).count, 450)
        XCTAssertTrue(Set(taken[1]).isSubset(of: rest))
    }

    /// FD-17.
    func testAnUndecodableRecordIsReportedKeptAndDeliveredAfterAnUpdate() async throws {
        withoutSchema()
        let phone = try makeDevice(Note.self)
        try await fill(phone.database, 49)
        try await serverSave("strange", ["id": "strange", "title": 7, "count": 0])
        try await phone.engine.fetchChanges()
        let names = try await phone.drain(leaving: 1).flatMap(\.names)
        XCTAssertEqual(names.count, 49)
        XCTAssertFalse(names.contains("strange"))
        let reports = phone.events.all.compactMap { event -> String? in
            if case .undecodable("strange", let reason) = event { reason } else { nil }
        }
        XCTAssertEqual(reports.count, 1)
        XCTAssertTrue(reports.first?.contains("title") == true, "\(reports)")
        let again = try await phone.engine.fetchChanges()
        XCTAssertEqual(again.fetched, 0)
        // The raw contents are kept: an updated app that can decode them gets the record offline.
        try await phone.engine.close()
        let files = phone.files
        let updated = try makeDevice(Tolerant.self) { $0.fileSystem = files }
        updated.database.isReachable = false
        let changes = try await updated.drain()
        XCTAssertEqual(changes, [.updated([Tolerant(id: "strange", title: "7")])])
    }

    /// FD-17: an app that only reads, without a loop over `changes`, also gets one report.
    func testAnUndecodableRecordIsReportedOnceToAnAppThatOnlyReads() async throws {
        withoutSchema()
        for follows in [true, false] {
            let name = "strange-\(follows)"
            let phone = try makeDevice(Note.self)
            try await serverSave(name, ["id": .string(name), "title": 7, "count": 0])
            try await phone.engine.fetchChanges()
            for _ in 0..<2 {
                let shown = try await phone.engine.model(named: name)
                XCTAssertNil(shown)
                _ = try await phone.engine.allModels()
            }
            let diagnostics = try await phone.engine.diagnostics()
            XCTAssertTrue(diagnostics.undecodable.contains(name), "\(diagnostics.undecodable)")
            if follows { _ = try await phone.drain(leaving: diagnostics.undecodable.count) }
            let reports = phone.events.all.compactMap { event -> String? in
                if case .undecodable(name, let reason) = event { reason } else { nil }
            }
            XCTAssertEqual(reports.count, 1)
            XCTAssertTrue(reports.first?.contains("title") == true, "\(reports)")
            try await serverSave(name, ["id": .string(name), "title": "Tea", "count": 0])
            try await phone.engine.fetchChanges()
            let mended = try await phone.engine.diagnostics().undecodable
            XCTAssertFalse(mended.contains(name))
        }
    }

    /// FD-33.
    func testAChildIsDeliveredWithoutItsParent() async throws {
        let phone = try makeDevice(Twig.self)
        let branch = RecordValue.reference(RecordReference(recordName: "branch", action: .deleteSelf))
        let twig: [String: RecordValue] = ["id": "twig", "branch": branch]
        try await serverModify(phone.database, saving: [("twig", "Twig", twig)], zone: "Twig")
        try await phone.engine.sync()
        try await phone.restart()
        let first = try await phone.drain()
        let reference = RecordReference(recordName: "branch", action: .deleteSelf)
        XCTAssertEqual(first, [.updated([Twig(id: "twig", branch: reference)])])
        try await serverModify(phone.database, saving: [("branch", "Twig", ["id": "branch"])], zone: "Twig")
        try await phone.engine.sync()
        let second = try await phone.drain()
        XCTAssertEqual(second, [.updated([Twig(id: "branch")])])
    }
}

/// A later version of the test model, which accepts numbers as titles.
private struct Tolerant: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var title: String
    var recordName: String { id }

    init(id: String, title: String) {
        self.id = id
        self.title = title
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        do {
            title = try container.decode(String.self, forKey: .title)
        } catch is DecodingError {
            title = String(try container.decode(Int.self, forKey: .title))
        }
    }

    static func resolveConflict(_ conflict: Conflict<Tolerant>) throws -> Tolerant? { conflict.latestEdit }
}

/// A model that references another record of its type.
private struct Twig: RecordCodable, Equatable, Identifiable {
    var id: String
    var branch: RecordReference?

    static func resolveConflict(_ conflict: Conflict<Twig>) throws -> Twig? { conflict.latestEdit }
}
