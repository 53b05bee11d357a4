import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// Edits made before the user is known, and states that belong to another user, cloud or model.
class AccountScenariosClaiming: AccountScenario {
    // ZA-09: the power fails at every third file-system call, or at every call in an exhaustive run.
    func testUnclaimedEditsAreClaimedByTheFirstUserInOneCommit() async throws {
        let first = SimulatedFileSystem()
        let phone = try makeAccountDevice(Note.self, user: nil) { $0.fileSystem = first }
        let count = 300
        try await phone.engine.upload((0..<count).map { Note("n-\($0)") })
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        try await phone.engine.close()
        phone.account.signIn("alice")
        phone.device.database.failAlways(.zones, CloudError(.networkFailure))
        var claimed = 0
        var unclaimed = 0
        for call in Cases.places(every: 3) {
            let files = first.crashed(keeping: .onlySynced)
            files.powerOff(at: call, call.isMultiple(of: 2) ? .after : .torn)
            let device = Device<Note>(phone.account, clock: clock) { $0.fileSystem = files }
            device.database.failAlways(.zones, CloudError(.networkFailure))
            _ = try? await device.engine.sync()
            try await device.engine.close()
            let wasCut = files.calls.count > call

            // The next engine finds all edits, either unclaimed or alice's.
            let left = files.crashed(keeping: .onlySynced)
            let directory = try StateLocation(
                database: phone.account,
                configuration: device.configuration(on: left),
                zoneID: ZoneID(zoneName: "Item"),
                recordType: "Item"
            )
            let opened = try await directory.open(at: device.engine.core.now)
            XCTAssertEqual(opened.state.pendingCount, count, "call \(call)")
            if opened.state.summary.user == "alice" { claimed += 1 } else { unclaimed += 1 }
            XCTAssertTrue([nil, "alice"].contains(opened.state.summary.user), "call \(call)")
            opened.close()
            if !wasCut { break }
        }
        XCTAssertGreaterThan(claimed, 0)
        XCTAssertGreaterThan(unclaimed, 1)
    }

    // ZA-09, ZA-12
    func testEditsClaimedByTheFirstUserStayHiddenFromTheSecond() async throws {
        let phone = try makeAccountDevice(Note.self, user: nil)
        try await phone.engine.upload(Note("a-1", "of alice"))
        phone.account.signIn("alice")
        phone.device.database.failAlways(.modify, CloudError(.networkFailure))
        _ = try? await phone.engine.sync()
        phone.device.database.failAlways(.modify, nil)
        phone.account.signIn("bob")
        try await phone.engine.sync()
        let (shown, bob) = (try await phone.shown(), try await names(of: "bob", phone))
        XCTAssertEqual([shown, bob], [[], []])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let alice = try await names(of: "alice", phone)
        XCTAssertEqual(alice, ["a-1"])
    }

    // C24, I-39
    func testAnotherUsersStateIsNotOpenedForTheCurrentUser() async throws {
        for isDamaged in [false, true] {
            let files = SimulatedFileSystem()
            let phone = try makeAccountDevice(Note.self, user: "alice") { $0.fileSystem = files }
            try await phone.engine.upload(Note("a-1", "of alice"))
            try await phone.engine.sync()
            try await phone.engine.upload(Note("a-2", "of alice"))
            phone.account.signIn("bob")
            try await phone.engine.sync()
            try await phone.engine.upload(Note("b-1", "of bob"))
            try await phone.engine.close()
            if isDamaged {
                for newest in ["/device/users/1/journal-1.jsonl", "/device/users/2/journal-2.jsonl"] {
                    var bytes = try XCTUnwrap(files.bytes(at: newest))
                    bytes[20] ^= 1
                    files.place(bytes, at: newest)
                }
            }
            phone.account.signIn("carol", signal: false)
            try await phone.device.restart()
            try await phone.engine.sync()
            let carol = try await phone.shown()
            XCTAssertEqual(carol, [], "damaged headers: \(isDamaged)")
            phone.account.signIn("alice")
            try await phone.engine.sync()
            let alice = try await phone.shown()
            XCTAssertEqual(alice, ["a-1", "a-2"], "damaged headers: \(isDamaged)")
            phone.account.signIn("bob")
            try await phone.engine.sync()
            let bob = try await phone.shown()
            XCTAssertEqual(bob, ["b-1"], "damaged headers: \(isDamaged)")
            try await phone.engine.close()
            for user in ["alice", "bob"] {
                let server = phone.account.server(of: user)
                _ = try await server.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: "Item")])
            }
        }
    }

    // MARK: Another cloud, another model

    // ZA-12
    func testTheStateOfOneCloudIsNotOpenedForAnother() async throws {
        let files = SimulatedFileSystem()
        let first = Device<Note>(
            FakeCloud(identifier: "cloud-1", options: LedgerOptions()).database(),
            clock: clock,
            files: files
        )
        try await first.engine.upload(Note("a"))
        try await first.engine.sync()
        try await first.engine.close()
        let before = files.names(in: "/device/users/1").map { files.bytes(at: "/device/users/1/\($0)") }
        let other = FakeCloud(identifier: "cloud-2", options: LedgerOptions()).database()
        let second = Device<Note>(other, clock: clock, files: files)
        for _ in 0..<2 {
            do {
                try await second.engine.upload(Note("b"))
                XCTFail("a state was opened for another cloud")
            } catch let error as SyncError where error.code == .configuration {
                let message = error.message
                XCTAssertTrue(message.contains("\"cloud-1\"") && message.contains("\"cloud-2\""), message)
            }
        }
        XCTAssertEqual(
            files.names(in: "/device/users/1").map { files.bytes(at: "/device/users/1/\($0)") },
            before
        )
        XCTAssertEqual(other.requests, [])
        let again = Device<Note>(
            FakeCloud(identifier: "cloud-1", options: LedgerOptions()).database(),
            clock: clock,
            files: files
        )
        let shown = try await again.engine.allModels()
        XCTAssertEqual(shown, [Note("a")])
    }

    private struct Renamed: RecordCodable, Equatable, Identifiable {
        static var recordType: String { "Item" }
        var id: String
        var title: String

        static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
    }

    func testARenamedModelWithTheSameRecordTypeKeepsItsState() async throws {
        let files = MemoryFileSystem()
        let cloud = FakeCloud()
        let first = Device<Note>(cloud.database(), clock: clock, files: files)
        try await first.engine.upload(Note("a", "title"))
        try await first.engine.sync()
        try await first.engine.close()
        let second = Device<Renamed>(cloud.database(), clock: clock, files: files)
        let shown = try await second.engine.allModels()
        XCTAssertEqual(shown, [Renamed(id: "a", title: "title")])
    }

    // EV-19, G3
    func testTwoModelsInOneZoneFailAtTheFirstCall() async throws {
        let database = FakeCloud().database(user: "alice")
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        var first: SyncEngine<ModuleA.Thing>? = SyncEngine(database: database, configuration: configuration)
        let second = SyncEngine<ModuleB.Thing>(database: database, configuration: configuration)
        try await first?.start()
        let requests = database.requests.count
        for call in [
            { try await second.start() }, { try await second.upload(ModuleB.Thing(id: "a")) },
            { _ = try await second.allModels() },
        ] as [() async throws -> Void] {
            do {
                try await call()
                XCTFail("both engines opened the zone \"Thing\"")
            } catch let error as SyncError where error.code == .configuration {
                let message = error.message
                XCTAssertTrue(message.contains("ModuleA.Thing") && message.contains("ModuleB.Thing"), message)
            }
        }
        XCTAssertGreaterThanOrEqual(database.requests.count, requests)

        // The same model, another zone or another device is not a clash.
        let same = SyncEngine<ModuleA.Thing>(database: database, configuration: configuration)
        _ = try await same.allModels()
        try await same.close()
        var elsewhere = configuration
        elsewhere.zoneName = "Things"
        let other = SyncEngine<ModuleB.Thing>(database: database, configuration: elsewhere)
        _ = try await other.allModels()
        try await other.close()
        let tablet = database.cloud.database(user: "alice")
        let device = SyncEngine<ModuleB.Thing>(database: tablet, configuration: configuration)
        _ = try await device.allModels()
        try await device.close()

        // Once the first engine is closed or released, the second can open the zone.
        try await first?.close()
        _ = try await second.allModels()
        try await second.close()
        first = SyncEngine(database: database, configuration: configuration)
        _ = try await first?.allModels()
        weak let engine = first?.core
        let end = first?.watchEnd()
        first = nil
        await end?.value
        XCTAssertNil(engine)
        let third = SyncEngine<ModuleB.Thing>(database: database, configuration: configuration)
        _ = try await whenFree { try await third.allModels() }
        try await third.close()
    }
}

extension Device {
    fileprivate func configuration(on files: any FileSystem) -> SyncConfiguration {
        var configuration = configuration
        configuration.fileSystem = files
        return configuration
    }
}
