import XCTest

@testable import CodableSync

/// Another device has met the loss of the zone first: the zone is there again, and it is another one.
final class ZoneMadeAnewTests: ZoneScenario {
    /// Both have a record that the other one has not heard of; the tablet makes the zone anew.
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

    /// What the server confirmed, and nobody else had fetched, goes up again after a reset.
    func testWhatOnlyOneDeviceKnewOutlivesAResetThatAnotherDeviceHasMetFirst() async throws {
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

    /// Two devices replace a zone after a reset, and the deletion of one arrives after the other made the zone anew.
    ///
    /// All devices keep their records, including one that has not learned of the reset.
    func testALateDeletionByADeviceThatReplacesTheZoneLosesNoRecords() async throws {
        let (phone, tablet) = try await makePair(Note("p", "Tea")) { $0.seed = 2 }
        let watch: Device<Note> = try makeDevice()
        try await watch.engine.upload(Note("w", "Salt"))
        try await watch.engine.sync()
        try await remove(.encryptedDataReset)
        // The phone has looked at the zone, and its deletion is on its way.
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

    /// The older version that another device has uploaded again does not take the newer one's place.
    func testAnOlderVersionInTheNewZoneTakesNoEditBack() async throws {
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

    /// Sent before anything is fetched, an edit is not taken for one of a deleted record.
    func testAnEditThatIsSentIntoTheNewZoneIsNotLost() async throws {
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

    /// A zone that a client has deleted takes its records along, whoever makes the next one.
    func testRecordsOfADeletedZoneAreDeletedAndEditsOfThemAreKept() async throws {
        let (phone, tablet) = try await makeAnew(.deleted)
        try await phone.engine.upload(Note("e", "Salt"))
        try await settle(phone, tablet)
        let shown = try await titles(phone)
        XCTAssertEqual(shown, ["Salt"])
        try await assertEqualEverywhere(phone, tablet)
    }

    /// The user is asked on each device, also where another one has answered already.
    func testAPurgeIsAskedAboutAlthoughTheZoneIsThereAgain() async throws {
        let (phone, tablet) = try await makeAnew(.purged)
        await assertThrows(.waitingForDecision(.purged)) { try await phone.engine.sync() }
        let before = try await titles(phone)
        XCTAssertEqual(before, ["Milk", "Tea"])
        try await phone.engine.resolvePurge(.uploadAgain)
        try await settle(phone, tablet)
        let shown = try await titles(tablet)
        XCTAssertEqual(shown, ["Milk", "Tea"])
    }

    /// A token that is only too old changes nothing: what is not listed was deleted.
    func testAnExpiredTokenOfTheSameZoneStillTellsDeletions() async throws {
        let (phone, tablet): (Device<Note>, Device<Note>) = try await makePair(
            Note("a", "Tea"),
            Note("b", "Milk")
        )
        try await tablet.engine.delete(recordNames: ["a", "b"])
        try await tablet.engine.sync()
        try await expireTokens()
        try await phone.engine.sync()
        let shown = try await titles(phone)
        XCTAssertEqual(shown, [])
        XCTAssertFalse(phone.events.all.contains { if case .zoneLost = $0 { true } else { false } })
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 0)
    }

    /// An edit that knows nothing of what goes up again does not make it seen.
    func testWhatGoesUpAgainUnderAnEditIsNotSeenByThatEdit() async throws {
        let cloud = FakeCloud(clock: clock)
        let phone = Device<StampSet>(cloud.database(user: "alice"), clock: clock)
        let tablet = Device<StampSet>(cloud.database(user: "alice"), clock: clock)
        try await tablet.engine.upload(StampSet(id: "a", stamps: ["1"]))
        try await tablet.engine.sync()
        try await tablet.engine.close()
        try await phone.engine.fetchChanges()
        try cloud.resetEncryptedData(in: ZoneID(zoneName: "Item"), user: "alice")
        try await phone.engine.fetchChanges()
        try await phone.engine.upload(StampSet(id: "a", stamps: ["2"]))
        phone.database.plan(.modify, .holdBefore(.opened), .fail(CloudError(.networkFailure)))
        await assertThrows(.cloud(CloudError(.networkFailure))) { try await phone.engine.sync() }
        // Neither what the tablet had nor what the conflict has made of both was shown to anybody here.
        try await phone.engine.upload(StampSet(id: "a", stamps: ["2", "3"]))
        try await phone.engine.sync()
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.stamps, ["1", "2", "3"])
    }
}
