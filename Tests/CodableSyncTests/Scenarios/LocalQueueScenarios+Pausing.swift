import XCTest

@testable import CodableSync

/// The disk is full, the network is unavailable, no user is signed in, or the engine is stopped.
extension LocalQueueScenarios {
    // LQ-15
    func testAFullDiskFailsTheCallAndKeepsTheQueue() async throws {
        let (phone, files) = try makeFragileDevice(Note.self)
        try await phone.engine.upload(Note("before", "Tea"))
        files.leaveRoom(for: 0)
        do {
            try await phone.engine.upload(Note("a", "Milk"))
            XCTFail("the upload should fail")
        } catch {
            guard (error as? SyncError)?.code == .storageFull else { return XCTFail("\(error)") }
        }
        var pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["before"])
        let hidden = try await phone.engine.model(named: "a")
        XCTAssertNil(hidden)
        files.leaveRoom(for: nil)
        try await phone.engine.upload(Note("a", "Milk"))
        try await phone.crash()
        pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a", "before"])
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a", "before"])
    }

    // LQ-16
    func testModelsUploadedOfflineAreSentAfterTheNextLaunch() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.isReachable = false
        for number in 0..<10 { try await phone.engine.upload(Note("n\(number)")) }
        do {
            try await phone.engine.sync()
            XCTFail("synced without a network")
        } catch {
            XCTAssertEqual(error as? SyncError, .cloud(CloudError(.networkUnavailable)))
        }
        try await phone.restart()
        phone.database.isReachable = true
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 10)
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 10)
    }

    // LQ-17
    func testModelsUploadedWithoutAUserAreSentAfterSignIn() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.setAccount(.noAccount)
        try await phone.engine.upload(Note("a"))
        do {
            try await phone.engine.sync()
            XCTFail("synced without a user")
        } catch {
            XCTAssertEqual((error as? SyncError)?.code, .cloud)
            XCTAssertEqual((error as? SyncError)?.cloudError?.code, .notAuthenticated)
        }
        try await phone.restart()
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a"])
        XCTAssertEqual(phone.database.modifies.count, 0)
        phone.database.setAccount(nil)
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a"])
    }

    // LQ-18, LQ-19, LQ-20
    func testChangesOfAStoppedEngineAreSentWhenItStarts() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await phone.engine.upload([Note("deleted"), Note("edited", "old")])
        try await phone.engine.sync()
        await phone.engine.stop()
        let before = phone.database.modifies.count
        try await phone.engine.upload([Note("added"), Note("edited", "new")])
        try await phone.engine.delete(Note("deleted"))
        do {
            try await phone.engine.sync()
            XCTFail("a stopped engine synced")
        } catch {
            XCTAssertEqual(error as? SyncError, .stopped)
        }
        XCTAssertEqual(phone.database.modifies.count, before)
        try await phone.engine.start()
        try await quiet(phone)
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["added", "edited"])
        XCTAssertEqual(server["edited"]?.fields["title"], "new")
    }

    // LQ-21
    func testInitialModelsAreUploadedOnce() async throws {
        let models = (0..<5).map { Note("n\($0)", "\($0)") }
        let phone = try makeDevice(Note.self)
        try await phone.engine.uploadOnce { models }
        try await phone.engine.start()
        try await phone.engine.sync()
        try await phone.engine.uploadOnce { models }
        try await phone.engine.start()
        try await phone.engine.sync()
        try await phone.restart()
        try await phone.engine.uploadOnce { models }
        try await phone.engine.start()
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.flatMap(\.names).sorted(), models.map(\.id))
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), models.map(\.id))
    }

    private enum Noticing: ItemPolicy {
        static let action = Locked<(@Sendable () -> Void)?>(nil)

        static func resolve(_ conflict: Conflict<Item<Noticing>>) throws -> Item<Noticing>? {
            action.withLock { $0 }?()
            return conflict.client
        }
    }

    // LQ-26
    func testPendingChangesReportTheStageOfEach() async throws {
        let (phone, files) = try makeFragileDevice(Item<Noticing>.self)
        func stages() async throws -> [String: PendingChange<Item<Noticing>>.Stage] {
            try await phone.engine.pendingChanges().reduce(into: [:]) { $0[$1.recordName] = $1.stage }
        }
        try await phone.engine.upload(Item("conflict", "v0"))
        try await phone.engine.sync()
        try await serverSave(Item<Noticing>("conflict", "S"))

        let refusal = CloudError(.invalidArguments, message: "The field is not in the schema.")
        phone.database.failItemAlways("parked", refusal)
        try await phone.engine.upload([Item("conflict", "v1"), Item("done"), Item("parked")])
        var found = try await stages()
        XCTAssertEqual(found, ["conflict": .queued, "done": .queued, "parked": .queued])

        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        // The resolution cannot be stored, so the conflict stays open.
        Noticing.action.withLock { $0 = { files.leaveRoom(for: 0) } }
        let engine = phone.engine
        let run = Task { try await engine.sendChanges() }
        await gate.reached()
        found = try await stages()
        XCTAssertEqual(found, ["conflict": .inFlight, "done": .inFlight, "parked": .inFlight])
        gate.open()
        _ = await run.result
        let reason = ParkReason(kind: .refused, message: refusal.description)
        found = try await stages()
        XCTAssertEqual(found, ["conflict": .inConflict, "parked": .parked(reason)])

        Noticing.action.withLock { $0 = nil }
        files.leaveRoom(for: nil)
        try await phone.engine.sync()
        found = try await stages()
        XCTAssertEqual(found, ["parked": .parked(reason)])
        phone.database.failItemAlways("parked", nil)
        try await phone.engine.retry(named: ["parked"])
        try await phone.engine.sync()
        found = try await stages()
        XCTAssertEqual(found, [:])
    }
}
