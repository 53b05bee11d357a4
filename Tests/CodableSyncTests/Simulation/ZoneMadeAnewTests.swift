import XCTest

@testable import CodableSync

/// After a zone is lost, another device re-creates it before this device notices.
final class ZoneMadeAnewTests: ZoneScenario {
    /// Each device has a record that the other has not fetched; the tablet re-creates the zone.
    private func makeAnew(
        _ loss: Loss
    ) async throws -> (phone: Device<Note>, tablet: Device<Note>) {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await phone.engine.sync()
        try await tablet.engine.upload(Note("t", "Milk"))
        try await tablet.engine.sync()
        try await phone.engine.upload(Note("p", "Tea"))
        try await phone.engine.sync()
        pass()
        try await remove(loss)
        try await sync(tablet, deciding: .uploadAgain)
        pass()
        return (phone, tablet)
    }

    private func titles(_ device: Device<Note>) async throws -> [String] {
        try await device.engine.allModels().map(\.title).sorted()
    }

    /// After a reset, records that the server had confirmed but no other device had fetched are uploaded
    /// again.
    func testRecordsOnlyOneDeviceHasSurviveAResetHandledByAnotherDevice() async throws {
        for resyncs in [false, true] {
            try setUpWithError()
            let (phone, tablet) = try await makeAnew(.encryptedDataReset)
            if resyncs { try await phone.engine.resync() }
            try await settle(phone, tablet)
            let shown = try await titles(tablet)
            XCTAssertEqual(shown, ["Milk", "Tea"], "resync: \(resyncs)")
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// After a reset, two devices replace the zone; the phone's deletion of the old zone arrives after the
    /// tablet has already re-created it.
    ///
    /// No device loses records, including the watch, which has not learned of the reset.
    func testALateZoneDeletionLosesNoRecords() async throws {
        let (phone, tablet) = try await makePair(Note("p", "Tea")) { $0.seed = 2 }
        let watch: Device<Note> = try makeDevice()
        try await watch.engine.upload(Note("w", "Salt"))
        try await watch.engine.sync()
        try await remove(.encryptedDataReset)
        // The phone has fetched the zone's state and is about to delete the zone.
        let deletion = Gate()
        phone.database.plan(.zones, .holdBefore(.opened), .holdBefore(deletion))
        let engine = phone.engine
        let replacing = Task { try await engine.sync() }
        await deletion.reached()
        try await tablet.engine.upload(Note("t", "Milk"))
        try await tablet.engine.sync()
        deletion.open()
        _ = try await replacing.value
        try await settle(phone, tablet, watch)
        let shown = try await titles(phone)
        XCTAssertEqual(shown, ["Milk", "Salt", "Tea"])
        try await assertEqualEverywhere(phone, tablet, watch)
    }

    /// Another device uploads an older version into the new zone; it does not replace the newer version.
    func testAnOlderVersionInTheNewZoneDoesNotRevertAnEdit() async throws {
        let (phone, tablet): (Device<Note>, Device<Note>) = try await makePair(Note("a", "Tea"))
        try await phone.engine.upload(Note("a", "Tea", note: "hot"))
        try await phone.engine.sync()
        try await remove(.encryptedDataReset)
        try await tablet.engine.sync()
        pass()
        try await settle(phone, tablet)
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, [Note("a", "Tea", note: "hot")])
    }

    /// An edit sent before the first fetch from the new zone is not treated as an edit of a deleted record.
    func testAnEditSentToTheNewZoneIsNotLost() async throws {
        for loss in [Loss.encryptedDataReset, .deleted] {
            try setUpWithError()
            let (phone, tablet) = try await makeAnew(loss)
            try await phone.engine.upload(Note("p", "Green tea"))
            try await phone.engine.sendChanges()
            try await settle(phone, tablet)
            let shown = try await titles(tablet)
            XCTAssertTrue(shown.contains("Green tea"), "\(loss): \(shown)")
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// Deleting a zone deletes its records, no matter which device re-creates the zone.
    func testDeletedZoneRemovesRecordsButKeepsPendingEdits() async throws {
        let (phone, tablet) = try await makeAnew(.deleted)
        try await phone.engine.upload(Note("e", "Salt"))
        try await settle(phone, tablet)
        let shown = try await titles(phone)
        XCTAssertEqual(shown, ["Salt"])
        try await assertEqualEverywhere(phone, tablet)
    }

    /// Each device asks its user, even if another device has already answered.
    func testAPurgeNeedsADecisionEvenIfTheZoneExistsAgain() async throws {
        let (phone, tablet) = try await makeAnew(.purged)
        await assertThrows(.waitingForDecision) { try await phone.engine.sync() }
        let before = try await titles(phone)
        XCTAssertEqual(before, ["Milk", "Tea"])
        try await phone.engine.resolvePurge(.uploadAgain)
        try await settle(phone, tablet)
        let shown = try await titles(tablet)
        XCTAssertEqual(shown, ["Milk", "Tea"])
    }

    /// If only the token has expired, records missing from the full listing have been deleted.
    func testAnExpiredTokenStillFindsDeletionsInTheSameZone() async throws {
        let (phone, tablet): (Device<Note>, Device<Note>) = try await makePair(
            Note("a", "Tea"),
            Note("b", "Milk")
        )
        try await tablet.engine.delete(named: ["a", "b"])
        try await tablet.engine.sync()
        try await expireTokens()
        try await phone.engine.sync()
        let shown = try await titles(phone)
        XCTAssertEqual(shown, [])
        XCTAssertFalse(phone.events.all.contains { if case .zoneLost = $0 { true } else { false } })
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 0)
    }
}
