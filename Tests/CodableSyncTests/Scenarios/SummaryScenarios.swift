import XCTest

@testable import CodableSync

/// What a `SyncSummary` counts: changes that the cloud accepted, and changes from other devices.
final class SummaryScenarios: EngineScenario {
    private func counts(_ summary: SyncSummary) -> [Int] {
        [summary.sent, summary.deleted, summary.fetched, summary.conflictsResolved, summary.parked]
    }

    func testInitialModelsThatTheCloudHasAreNotSent() async throws {
        let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
        let models = ["a", "b"].map { Note($0, "same") }
        try await tablet.engine.upload(models)
        try await tablet.engine.sync()
        try await phone.engine.uploadOnce { models + [Note("c", "only here")] }
        try await phone.engine.start()
        let summary = try await phone.engine.sync()
        XCTAssertEqual(counts(summary), [1, 0, 2, 0, 0])
        XCTAssertEqual(phone.database.modifies.flatMap(\.names), ["c"])
    }

    func testStandingParkedChangesAreCountedByEverySync() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.failItemAlways("a", CloudError(.permissionFailure))
        try await phone.engine.upload(Note("a", "refused"))
        for round in 1...3 {
            let summary = try await phone.engine.sync()
            XCTAssertEqual(counts(summary), [0, 0, 0, 0, 1], "round \(round)")
        }
        try await phone.engine.discard(named: ["a"])
        let summary = try await phone.engine.sync()
        XCTAssertEqual(counts(summary), [0, 0, 0, 0, 0])
    }

    func testAnEditEqualToAnotherDevicesIsNotSent() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        try await tablet.engine.upload(Note("a", "same"))
        try await tablet.engine.sync()
        try await phone.engine.upload(Note("a", "same"))
        let summary = try await phone.engine.sync()
        XCTAssertEqual(counts(summary), [0, 0, 1, 0, 0])
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    /// The cloud rejected the edit because another device's edit was first.
    func testARejectedEditEqualToTheServersIsNotCountedAsSent() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        try await tablet.engine.upload(Note("a", "same"))
        try await tablet.engine.sync()
        pass()
        try await phone.engine.upload(Note("a", "same"))
        let summary = try await phone.engine.sendChanges()
        XCTAssertEqual(counts(summary), [0, 0, 1, 0, 0])
    }

    func testASaveWhoseAnswerWasLostIsCountedAsSent() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.fetchChanges()
        phone.database.plan(.modify, .loseAnswer)
        try await phone.engine.upload(Note("a", "mine"))
        do { try await phone.engine.sendChanges() } catch let error as SyncError where error.code == .cloud {}
        let summary = try await phone.engine.sync()
        XCTAssertEqual(counts(summary), [1, 0, 0, 0, 0])
    }

    func testADeletionOfAnUnknownNameIsNotCounted() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.delete(named: ["never"])
        let summary = try await phone.engine.sync()
        XCTAssertEqual(counts(summary), [0, 0, 0, 0, 0])
        XCTAssertEqual(summary.pending, 0)
    }

    func testADeletionThatAnotherDeviceMadeFirstIsNotCounted() async throws {
        let (phone, tablet) = try await makePair(Note("a"))
        try await tablet.engine.delete(named: ["a"])
        let first = try await tablet.engine.sync()
        XCTAssertEqual(counts(first), [0, 1, 0, 0, 0])
        try await phone.engine.delete(named: ["a"])
        let second = try await phone.engine.sync()
        XCTAssertEqual(counts(second), [0, 0, 0, 0, 0])
    }

    /// A push that only leads to a look-up also returns `newData`.
    func testARecordThatIsLookedUpIsCountedAsFetched() async throws {
        let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
        try await tablet.engine.upload(Note("a"))
        try await tablet.engine.sync()
        phone.database.changeFetchAnswers { page in
            var page = page
            page.modifications = page.modifications.mapValues { _ in .failure(CloudError(.internalError)) }
            return page
        }
        let summary = try await phone.engine.sync()
        XCTAssertEqual(counts(summary), [0, 0, 1, 0, 0])
        let again = try await phone.engine.sync()
        XCTAssertEqual(counts(again), [0, 0, 0, 0, 0])
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.upload(Note("a", "anew"))
        try await tablet.engine.sync()
        let third = try await phone.engine.sync()
        XCTAssertEqual(counts(third), [0, 0, 1, 0, 0])
    }
}
