import XCTest

@testable import CodableSync

/// Scenarios, group A: the local queue and acknowledgement.
class LocalQueueScenarios: EngineScenario {
    // LQ-01
    func testAnAcknowledgedUploadSurvivesAPowerLoss() async throws {
        let (phone, _) = try makeFragileDevice(Note.self)
        try await phone.engine.upload(Note("a", "Tea"))
        try await phone.crash()
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a"])
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "Tea")
    }

    // LQ-02
    func testOnlyTheLastOfTwoUploadsOfARecordIsSent() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "first"))
        try await phone.engine.upload(Note("a", "second"))
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.map(\.names), [["a"]])
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "second")
    }

    // LQ-03
    func testARecordDeletedBeforeItsUploadIsSentIsNeverSaved() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "Tea"))
        try await phone.engine.delete(Note("a"))
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.pending, 0)
        XCTAssertEqual(phone.database.modifies.flatMap(\.saves).count, 0)
        let server = try await serverRecords()
        XCTAssertEqual(server, [:])
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    // LQ-04
    func testDeletingAndUploadingAgainIsNeverDeliveredAsADeletion() async throws {
        let phone = try makeDevice(Note.self)
        let tablet = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "old"))
        try await settle(phone, tablet)
        _ = try await tablet.drain()
        try await phone.engine.delete(Note("a"))
        try await phone.engine.upload(Note("a", "new"))
        try await settle(phone, tablet)
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "new")
        let told = try await tablet.drain()
        XCTAssertEqual(told, [.updated([Note("a", "new")])])
    }

    // LQ-05
    func testTheLastOfUploadDeleteUploadIsTheFinalState() async throws {
        let phone = try makeDevice(Note.self)
        let tablet = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "old"))
        try await settle(phone, tablet)
        phone.database.isReachable = false
        try await phone.engine.upload(Note("a", "newer"))
        try await phone.engine.delete(Note("a"))
        try await phone.engine.upload(Note("a", "newest"))
        phone.database.isReachable = true
        try await settle(phone, tablet)
        let onTablet = try await tablet.engine.allModels()
        XCTAssertEqual(onTablet, [Note("a", "newest")])
        try await assertEqualEverywhere(phone, tablet)
    }

    // LQ-10
    func testUploadingTheSameContentAgainChangesNothing() async throws {
        enum Policy: MergingPolicy {}
        Calls.shared.reset(Policy.self)
        let phone = try makeDevice(Item<Policy>.self)
        try await phone.engine.upload(Item<Policy>("a", "Tea", tags: ["x"]))
        try await phone.engine.sync()
        _ = try await phone.drain()
        let before = phone.database.modifies.count
        pass()
        try await phone.engine.upload(Item<Policy>("a", "Tea", tags: ["x"]))
        try await phone.engine.sync()
        try await phone.engine.sync()
        XCTAssertLessThanOrEqual(phone.database.modifies.count - before, 1)
        XCTAssertEqual(Calls.shared.count(Policy.self), 0)
        let told = try await phone.drain()
        for change in told {
            if case .saved = change { continue }
            XCTFail("delivered \(change)")
        }
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    // LQ-11
    func testACallWithoutModelsWritesAndSendsNothing() async throws {
        let (phone, files) = try makeFragileDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        try await phone.engine.sync()
        try await quiet(phone)
        let (calls, requests) = (files.calls.count, phone.database.modifies.count)
        try await phone.engine.upload([])
        try await phone.engine.delete([])
        try await phone.engine.delete(named: [])
        XCTAssertEqual(files.calls.count, calls)
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.count, requests)
    }

    // LQ-12
    func testTheLastOfTwoModelsInOneCallWins() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload([Note("a", "first"), Note("b", "other"), Note("a", "last")])
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.map { $0.names.sorted() }, [["a", "b"]])
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "last")
        XCTAssertEqual(server["b"]?.fields["title"], "other")
        try await phone.engine.delete(named: ["a", "b", "a"])
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.last?.deletions.sorted(), ["a", "b"])
    }

    // LQ-13
    func testConcurrentUploadsAllArriveOnce() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<60 { try await engine.upload(Note("n\(task)-\(number)", "\(number)")) }
                }
            }
            try await group.waitForAll()
        }
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 480)
        let sent = phone.database.modifies.flatMap(\.names)
        XCTAssertEqual(sent.count, 480)
        XCTAssertEqual(Set(sent).count, 480)
    }

    // LQ-14
    func testTheLastOfConcurrentUploadsOfARecordIsKept() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for revision in 1...25 {
                        try await engine.upload(Note("a", "\(task)", count: revision))
                    }
                }
            }
            for _ in 0..<4 { try await engine.sync() }
            try await group.waitForAll()
        }
        let last = try await phone.engine.model(named: "a")
        XCTAssertEqual(last?.count, 25, "the last revision of some task")
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], last.map { .string($0.title) })
        XCTAssertEqual(server["a"]?.fields["count"], 25)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    // LQ-24
    func testDeletingAnUnknownRecordSucceeds() async throws {
        let phone = try makeDevice(Note.self)
        let tablet = try makeDevice(Note.self)
        try await phone.engine.delete(named: ["nobody"])
        try await settle(phone, tablet)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        for device in [phone, tablet] {
            let told = try await device.drain()
            XCTAssertEqual(told, [])
        }
    }
}
