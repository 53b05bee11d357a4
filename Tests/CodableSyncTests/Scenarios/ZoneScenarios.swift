import XCTest

@testable import CodableSync

/// Scenarios, group K: creating a zone, finding an existing one, and re-creating a lost one.
class ZoneScenarios: ZoneScenario {
    /// ZA-01.
    func testTheZoneExistsBeforeTheFirstSave() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "Tea"))
        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        let syncing = phone.beginSync()
        await gate.reached()
        let zones = try await phone.database.base.recordZones(for: [zoneID])
        XCTAssertNotNil(try zones[zoneID]?.get())
        gate.open()
        _ = try await syncing.value
        XCTAssertEqual(phone.database.modifies.count, 1)
        XCTAssertEqual(phone.database.count(.zones), 1)
        XCTAssertEqual(phone.database.count(.subscriptions), 1)
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["a": "Tea"])
    }

    /// ZA-02.
    func testAnExistingZoneIsUsedWithItsRecords() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "Tea"))
        try await phone.engine.sync()
        let before = try await serverRecords()
        let tablet = try makeDevice(Note.self)
        try await tablet.engine.sync()
        let told = try await tablet.drain()
        XCTAssertEqual(told, [.updated([Note("a", "Tea")])])
        let after = try await serverRecords()
        XCTAssertEqual(after["a"]?.recordChangeTag, before["a"]?.recordChangeTag)
        // The zone is still the same: the first device's token is valid.
        phone.events.clear()
        try await phone.engine.sync()
        XCTAssertFalse(phone.events.all.contains(.listingBegan))
    }

    /// ZA-03.
    func testAZoneDeletedByAClientRemovesItsRecordsAndKeepsPendingEdits() async throws {
        let (phone, tablet) = try await makePair(Note("a", "Tea"), Note("b", "Milk"))
        try await phone.engine.upload([Note("b", "Oat milk"), Note("c", "Bread")])
        try await remove(.deleted)
        let summaries = [try await phone.engine.sync(), try await tablet.engine.sync()]
        XCTAssertEqual(summaries.first?.fetched, 2, "the models that went with the zone")
        XCTAssertTrue(phone.events.all.contains(.zoneLost(.deleted)))
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["b": "Oat milk", "c": "Bread"])
        let told = try await phone.drain()
        XCTAssertEqual(told.deletedNames, ["a"])
        let others = try await tablet.drain()
        XCTAssertEqual(others.deletedNames, ["a"])
        try await settle(phone, tablet)
        try await assertEqualEverywhere(phone, tablet)
    }

    /// ZA-05.
    func testAfterAnEncryptedDataResetAllRecordsAreUploadedAgain() async throws {
        let (phone, tablet) = try await makePair(Note("a", "Tea"), Note("b", "Milk"))
        try await phone.engine.upload([Note("b", "Oat milk"), Note("c", "Bread")])
        try await phone.engine.delete(named: ["a"])
        try await tablet.engine.upload(Note("d", "Salt"))
        try await remove(.encryptedDataReset)
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["b": "Oat milk", "c": "Bread"])
        XCTAssertTrue(phone.events.all.contains(.zoneLost(.encryptedDataReset)))
        try await settle(phone, tablet)
        let end = try await serverTitles()
        // The tablet uploads its known records, including the one that the phone deleted.
        XCTAssertEqual(end, ["a": "Tea", "b": "Oat milk", "c": "Bread", "d": "Salt"])
        let told = try await phone.drain()
        XCTAssertEqual(told.deletedNames, [])
        try await assertEqualEverywhere(phone, tablet)
    }

    /// ZA-06.
    func testAMissingZoneIsRecreatedOnceAndItsTokenIsDropped() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "Tea"))
        try await phone.engine.sync()
        let zones = phone.database.count(.zones)
        try await remove(.unexplained, hidingItFrom: phone.database)
        try await phone.engine.fetchChanges()
        XCTAssertEqual(phone.database.count(.zones), zones + 1)
        XCTAssertEqual(phone.events.all.filter { $0 == .zoneLost(nil) }.count, 1)
        XCTAssertEqual(phone.events.all.filter { $0 == .zoneReady }.count, 2)
        // The server would reject tokens and tags of the former zone.
        phone.events.clear()
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["a": "Tea"])
        let failures = phone.events.count { if case .failed = $0 { true } else { false } }
        XCTAssertEqual(failures, 0)
    }

    /// Z1, P-17: the result is the same, whichever request finds the loss.
    func testEveryKindOfRequestDetectsTheLoss() async throws {
        for loss in Loss.allCases {
            for request in [ScriptedDatabase.Operation.modify, .fetch, .lookUp, .databaseChanges] {
                try setUpWithError()
                try await lose(loss, during: request)
            }
        }
    }

    private func lose(_ loss: Loss, during request: ScriptedDatabase.Operation) async throws {
        let row = "\(loss) during \(request)"
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload([Note("a", "Tea"), Note("b", "Milk")])
        try await phone.engine.sync()
        try await show(phone)
        try await phone.engine.upload([Note("b", "Oat milk"), Note("c", "Bread")])
        if request == .lookUp {
            try await serverSave("a", ["id": "a", "title": "Tea", "count": 1])
            phone.database.changeFetchAnswers { $0.failing() }
        }
        if request == .databaseChanges {
            try await remove(loss)
            // CloudKit Web Services do not give the reason in the error.
            phone.database.failNext(.fetch, .zoneNotFound)
        }
        let gate = Gate()
        phone.database.plan(request, .holdBefore(gate))
        // Saves wait until the loss: otherwise they would be lost with the zone.
        let saves = Gate()
        if request != .modify { phone.database.plan(.modify, .holdBefore(saves)) }
        let syncing = phone.beginSync()
        await gate.reached()
        // Set before the zone is removed, because a request that is not held may find the loss immediately.
        if loss == .unexplained { phone.database.hideReasons() }
        if request != .databaseChanges { try await remove(loss) }
        phone.database.changeFetchAnswers(nil)
        saves.open()
        // Reading the feed fails once before it succeeds.
        gate.open(throwing: request == .databaseChanges ? CloudError(.networkFailure) : nil)
        _ = await syncing.result
        try await sync(phone, deciding: .uploadAgain)
        let titles = try await serverTitles()
        let told = try await phone.drain()
        if loss == .deleted {
            XCTAssertEqual(titles, ["b": "Oat milk", "c": "Bread"], row)
            XCTAssertEqual(told.deletedNames, ["a"], row)
        } else {
            XCTAssertEqual(titles, ["a": "Tea", "b": "Oat milk", "c": "Bread"], row)
            XCTAssertEqual(told.deletedNames, [], row)
        }
        try await assertEqualEverywhere(phone)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [], row)
    }

    /// Z1, ZA-05: two devices find the same reset; the second does not delete the first one's new zone.
    func testAZoneThatAnotherDeviceHasReplacedIsNotDeletedAgain() async throws {
        for isRestarted in [false, true] {
            try setUpWithError()
            let (phone, tablet) = try await makePair(Note("a", "Tea"), Note("b", "Milk"))
            try await tablet.engine.upload(Note("c", "Bread"))
            try await remove(.encryptedDataReset)
            let gate = Gate()
            tablet.database.plan(.zones, .holdBefore(gate))
            let syncing = tablet.beginSync()
            await gate.reached()
            try await phone.engine.upload(Note("d", "Salt"))
            try await phone.engine.sync()
            let before = try await serverRecords()
            XCTAssertEqual(before.keys.sorted(), ["a", "b", "d"])
            if isRestarted {
                gate.open(throwing: CloudError(.networkFailure))
                _ = await syncing.result
                try await tablet.restart()
                try await tablet.engine.sync()
            } else {
                gate.open()
                _ = try await syncing.value
            }
            let after = try await serverRecords()
            XCTAssertEqual(after.keys.sorted(), ["a", "b", "c", "d"], "restarted: \(isRestarted)")
            for (name, record) in before {
                XCTAssertEqual(after[name]?.recordChangeTag, record.recordChangeTag, name)
            }
            phone.events.clear()
            try await settle(phone, tablet)
            XCTAssertFalse(phone.events.all.contains { if case .zoneLost = $0 { true } else { false } })
            XCTAssertFalse(phone.events.all.contains(.listingBegan))
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// Z1: other devices' records in the new zone are merged with this device's edits by the resolver.
    func testOtherDevicesRecordsInTheNewZoneGoThroughTheResolver() async throws {
        for loss in [Loss.deleted, .encryptedDataReset, .unexplained] {
            try setUpWithError()
            let (phone, tablet) = try await makePair(Note("a", "Tea"))
            try await tablet.engine.upload(Note("a", "Tea", note: "green"))
            try await phone.engine.upload(Note("a", "Tea", color: "brown"))
            try await remove(loss, hidingItFrom: phone.database, tablet.database)
            try await tablet.engine.sync()
            try await phone.engine.sync()
            XCTAssertEqual(
                phone.events.count { if case .conflictResolved = $0 { true } else { false } },
                1,
                "\(loss)"
            )
            try await settle(phone, tablet)
            let models = try await phone.engine.allModels()
            XCTAssertEqual(models, [Note("a", "Tea", note: "green", color: "brown")], "\(loss)")
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// Z1: a late request to the former zone has no effect, and its answer is ignored.
    func testALateSaveInTheNextZoneIsNeitherLostNorDuplicated() async throws {
        for loss in [Loss.deleted, .encryptedDataReset] {
            try setUpWithError()
            let phone = try makeDevice(Note.self)
            try await phone.engine.upload(Note("a", "Tea"))
            try await phone.engine.sync()
            try await show(phone)
            let gate = Gate()
            phone.database.plan(.modify, .holdBefore(gate))
            try await phone.engine.upload([Note("a", "Black tea"), Note("b", "Milk")])
            let syncing = phone.beginSync()
            await gate.reached()
            try await remove(loss)
            try await phone.engine.upload(Note("b", "Oat milk"))
            // A fetch finds the loss while the save is still unanswered.
            pass()
            _ = await syncing.result
            try await phone.engine.fetchChanges()
            gate.open()
            try await phone.engine.sync()
            let titles = try await serverTitles()
            XCTAssertEqual(titles, ["a": "Black tea", "b": "Oat milk"], "\(loss)")
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], "\(loss)")
            try await assertEqualEverywhere(phone)
        }
    }

    /// Z1: both sides of an unresolved conflict survive the loss of the zone.
    func testAnUnresolvedConflictKeepsBothSidesAfterALoss() async throws {
        for loss in [Loss.encryptedDataReset, .unexplained, .purged] {
            try setUpWithError()
            typealias Model = Item<Throwing>
            let phone = try makeDevice(Model.self)
            try await phone.engine.upload(Model("a", "old"))
            try await phone.engine.sync()
            try await show(phone)
            pass()
            try await serverSave("a", ["id": "a", "title": "theirs", "count": 0, "unknown": "field"])
            try await phone.engine.upload(Model("a", "mine"))
            try await phone.engine.sync()
            try await show(phone)
            try await remove(loss, hidingItFrom: phone.database)
            try await sync(phone, deciding: .uploadAgain)
            try await phone.restart()
            let parked = try await phone.engine.parkedChanges()
            XCTAssertEqual(parked.map(\.client), [Model("a", "mine")], "\(loss)")
            XCTAssertEqual(parked.map(\.server), [Model("a", "theirs")], "\(loss)")
            let shown = try await phone.engine.allModels()
            XCTAssertEqual(shown, [Model("a", "theirs")], "\(loss)")
            let server = try await serverRecords()
            XCTAssertEqual(server["a"]?.fields["title"], "theirs", "\(loss)")
            XCTAssertEqual(server["a"]?.fields["unknown"], "field", "\(loss)")
            try await phone.engine.discard(named: ["a"])
            try await settle(phone)
            let told = try await phone.drain().flatMap(\.names)
            XCTAssertEqual(told, [], "\(loss)")
            try await assertEqualEverywhere(phone)
        }
    }

    /// Z1: the subscription request finds the loss; the next zone gets the subscription.
    func testAZoneLostDuringTheSubscriptionIsRecreatedWithOne() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        let gate = Gate()
        phone.database.plan(.subscriptions, .holdBefore(gate))
        try await phone.engine.upload(Note("a", "Tea"))
        await gate.reached()
        try await quiet(phone)
        try await remove(.encryptedDataReset)
        gate.open()
        try await quiet(phone)
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["a": "Tea"], "the record is saved again")
        XCTAssertEqual(phone.database.count(.subscriptions), 2)
        XCTAssertFalse(
            phone.events.all.contains { if case .subscriptionFailed = $0 { true } else { false } }
        )
    }
}

extension [ModelChange<Note>] {
    /// The names of deleted records, sorted.
    var deletedNames: [String] {
        flatMap { if case .deleted(let names) = $0 { names } else { [String]() } }.sorted()
    }
}

extension ZoneChanges {
    /// The same page, with records that could not be read.
    func failing() -> ZoneChanges {
        var page = self
        page.modifications = modifications.mapValues { _ in .failure(CloudError(.internalError)) }
        return page
    }
}
