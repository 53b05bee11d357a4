import XCTest

@testable import CodableSync

/// Scenarios, group K: a zone is lost while the device has records in every state, and the power fails.
class ZoneScenariosCrash: ZoneScenario {
    /// A device with records in every possible state; see `assertOutcome`.
    private func makeFullDevice() async throws -> (phone: Device<Note>, files: SimulatedFileSystem) {
        let (phone, files) = try makeFragileDevice(Note.self)
        // Uploading all records takes several requests.
        phone.database.setLimits(DatabaseLimits(maximumItems: 2))
        let names = ["known", "edited", "deleted", "parked", "changed", "gone"]
        try await phone.engine.upload(names.map { Note($0, "old") })
        try await phone.engine.sync()
        try await show(phone)
        pass()
        phone.database.failItemAlways("parked", CloudError(.invalidArguments))
        try await phone.engine.upload(Note("parked", "new"))
        try await phone.engine.sendChanges()
        phone.database.failItemAlways("parked", nil)
        // Changed and deleted elsewhere, fetched, but not delivered.
        try await serverSave("changed", ["id": "changed", "title": "new", "count": 0])
        try await serverDelete("gone")
        try await phone.engine.fetchChanges()
        try await phone.engine.upload([Note("edited", "new"), Note("created", "new")])
        try await phone.engine.delete(named: ["deleted"])
        phone.events.clear()
        return (phone, files)
    }

    /// Asserts what the app received and what the cloud has after a loss.
    private func assertOutcome(_ phone: Device<Note>, isUploadedAgain: Bool, _ row: String) async throws {
        let titles = try await serverTitles()
        let told = try await phone.drain()
        let models = try await phone.engine.allModels()
        let shown = Dictionary(uniqueKeysWithValues: models.map { ($0.id, $0.title) })
        if isUploadedAgain {
            XCTAssertEqual(
                titles,
                ["known": "old", "edited": "new", "parked": "old", "changed": "new", "created": "new"],
                row
            )
            XCTAssertEqual(told.deletedNames, ["gone"], row)
            XCTAssertTrue(told.flatMap(\.models).contains(Note("changed", "new")), row)
            XCTAssertEqual(
                shown,
                ["known": "old", "edited": "new", "parked": "new", "changed": "new", "created": "new"],
                row
            )
        } else {
            XCTAssertEqual(titles, ["edited": "new", "created": "new"], row)
            XCTAssertEqual(told.deletedNames, ["changed", "gone", "known"], row)
            XCTAssertEqual(shown, ["edited": "new", "parked": "new", "created": "new"], row)
        }
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.client), [Note("parked", "new")], row)
        XCTAssertEqual(parked.map(\.server), [isUploadedAgain ? Note("parked", "old") : nil], row)
        let pending = try await phone.engine.pendingChanges().map(\.recordName)
        XCTAssertEqual(pending, ["parked"], row)
        try await phone.engine.retry(named: ["parked"])
        try await phone.engine.sync()
        let end = try await serverTitles()
        XCTAssertEqual(end["parked"], "new", row)
        try await assertEqualEverywhere(phone)
    }

    /// Z1, ZA-03 to ZA-06: each kind of loss, without a crash.
    func testALossLosesNoRecordInAnyState() async throws {
        for loss in Loss.allCases {
            for answer in [PurgeAnswer.uploadAgain, .removeLocal]
            where loss == .purged || answer == .uploadAgain {
                try setUpWithError()
                let (phone, _) = try await makeFullDevice()
                try await remove(loss, hidingItFrom: phone.database)
                try await sync(phone, deciding: answer)
                let isUploadedAgain = loss.isUploadedAgain || (loss == .purged && answer == .uploadAgain)
                try await assertOutcome(phone, isUploadedAgain: isUploadedAgain, "\(loss), \(answer)")
            }
        }
    }

    /// Z1: the power fails at any file-system call between the detection of the loss and the last
    /// confirmation.
    func testAPowerLossAtAnyStepDoesNotChangeTheResult() async throws {
        for (number, loss) in [Loss.deleted, .purged, .encryptedDataReset, .unexplained].enumerated() {
            // Every tenth call, a different sample for each kind of loss.
            for call in Cases.places(every: 10, row: number * 3) {
                try setUpWithError()
                let (phone, files) = try await makeFullDevice()
                try await remove(loss, hidingItFrom: phone.database)
                files.powerOff(at: files.calls.count + call, SimulatedDisk.Moment.allCases[call % 3])
                var isThrough = true
                do { try await sync(phone, deciding: .uploadAgain) } catch { isThrough = false }
                try await phone.crash()
                try await sync(phone, deciding: .uploadAgain)
                let isUploadedAgain = loss != .deleted
                try await assertOutcome(
                    phone,
                    isUploadedAgain: isUploadedAgain,
                    "\(loss), power off at \(call)"
                )
                if isThrough {
                    XCTAssertGreaterThan(call, 5, "the power failed at too few calls")
                    break
                }
            }
        }
    }
}
