import XCTest

@testable import CodableSync

/// A device still has the state of a lost zone that another device has re-created.
class FormerZoneTests: ZoneScenario {
    /// Makes two devices.
    private func makeDevices<Model>(_ model: Model.Type) throws -> (
        phone: Device<Model>, tablet: Device<Model>
    ) {
        (try makeDevice(), try makeDevice())
    }

    /// Syncs, and retries once after a failed request.
    private func syncAgain<Model>(_ device: Device<Model>) async throws {
        do {
            try await device.engine.sync()
        } catch let error as SyncError where error.code == .cloud {
            pass()
            try await device.engine.sync()
        }
    }

    // MARK: Deletions

    /// A deletion that was pending when the zone was re-created also deletes the record in the new zone.
    func testAPendingDeletionDeletesTheRecordInTheNewZone() async throws {
        for loss in Loss.allCases {
            for sendsFirst in [false, true] {
                try setUpWithError()
                let (phone, tablet): (Device<Note>, Device<Note>) = try await makePair(Note("p", "Tea"))
                try await phone.engine.delete(named: ["p"])
                try await remove(loss, hidingItFrom: phone.database, tablet.database)
                try await sync(tablet, deciding: .uploadAgain)
                if loss == .deleted {
                    try await tablet.engine.upload(Note("p", "Tea"))
                    try await tablet.engine.sync()
                }
                pass()
                if sendsFirst { try await phone.engine.sendChanges() }
                try await sync(phone, deciding: .uploadAgain)
                try await settle(phone, tablet)
                let titles = try await serverTitles()
                XCTAssertEqual(titles, [:], "\(loss), sends first: \(sendsFirst)")
                try await assertEqualEverywhere(phone, tablet)
            }
        }
    }

    // MARK: The position in the feed

    /// If reading the database token fails at the first launch, the engine reads it again later.
    func testAFailedFeedRequestAtFirstLaunchLosesNoRecordsAfterAReset() async throws {
        let codes: [CloudError.Code] = [
            .networkFailure, .serviceUnavailable, .serverResponseLost, .unknown("new"),
        ]
        for code in codes {
            try setUpWithError()
            let (phone, tablet) = try makeDevices(Note.self)
            tablet.database.failNext(.databaseChanges, code)
            try await tablet.engine.upload(Note("p", "Tea"))
            try await syncAgain(tablet)
            try await remove(.encryptedDataReset)
            try await phone.engine.sync()
            pass()
            try await tablet.engine.sync()
            try await settle(phone, tablet)
            let titles = try await serverTitles()
            XCTAssertEqual(titles, ["p": "Tea"], "\(code)")
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// A state without a database token reads one when it is opened.
    func testAMissingDatabaseTokenIsReadAtTheNextOpening() async throws {
        let (phone, tablet) = try makeDevices(Note.self)
        try await tablet.engine.upload(Note("p", "Tea"))
        // The database had no feed at first and has one now.
        tablet.database.hideReasons()
        try await tablet.engine.sync()
        tablet.database.failAlways(.databaseChanges, nil)
        try await tablet.restart()
        try await tablet.engine.sync()
        try await remove(.encryptedDataReset)
        try await phone.engine.sync()
        try await settle(tablet, phone)
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["p": "Tea"])
    }

    /// When this device edits a record, relative to its first listing of the new zone.
    private enum Edit: CaseIterable { case none, pending, sentFirst }

    /// The zone was lost before this device fetched anything: the loss does not apply to records of the next
    /// zone.
    func testALossBeforeTheFirstFetchRemovesNothing() async throws {
        for loss in [Loss.encryptedDataReset, .purged, .deleted] {
            for edit in Edit.allCases {
                try setUpWithError()
                try await tellOfOldLoss(loss, edit)
            }
        }
    }

    private func tellOfOldLoss(_ loss: Loss, _ edit: Edit) async throws {
        let row = "\(loss), edit \(edit)"
        let (phone, tablet) = try makeDevices(Note.self)
        try await phone.engine.sync()
        try await remove(loss)
        try await tablet.engine.upload([Note("p", "Tea"), Note("q", "Milk")])
        try await tablet.engine.sync()
        pass()
        if edit != .none { try await phone.engine.upload(Note("e", "Salt")) }
        if edit == .sentFirst { try await phone.engine.sendChanges() }
        try await phone.engine.sync()
        let told = try await phone.drain()
        XCTAssertEqual(told.deletedNames, [], row)
        try await tablet.engine.delete(named: ["p"])
        try await tablet.engine.sync()
        try await expireTokens()
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, edit == .none ? ["q": "Milk"] : ["q": "Milk", "e": "Salt"], row)
        try await settle(tablet, phone)
        try await assertEqualEverywhere(phone, tablet)
    }

    // MARK: Ancestors

    /// A save is rejected as a conflict; a known version from the former zone is not an ancestor.
    func testAConflictInARecreatedZoneHasNoAncestorFromTheFormerZone() async throws {
        for sendsOnly in [false, true] {
            for isAttached in [false, true] {
                try setUpWithError()
                let (phone, tablet) = try makeDevices(FieldPerDevice.self)
                (tablet.database.base as? FakeDatabase)?.conflictsCarryServerRecord = isAttached
                try await tablet.engine.upload(FieldPerDevice(id: "p", first: "1"))
                try await tablet.engine.sync()
                try await remove(.encryptedDataReset)
                pass()
                try await phone.engine.upload(FieldPerDevice(id: "p", second: "2"))
                try await phone.engine.sync()
                pass()
                try await tablet.engine.upload(FieldPerDevice(id: "p", first: "1", third: "3"))
                if sendsOnly { try await tablet.engine.sendChanges() }
                try await settle(tablet, phone)
                let model = try await phone.engine.model(named: "p")
                XCTAssertEqual(
                    model,
                    FieldPerDevice(id: "p", first: "1", second: "2", third: "3"),
                    "sends only: \(sendsOnly), attached: \(isAttached)"
                )
                try await assertEqualEverywhere(phone, tablet)
            }
        }
    }
}
