import XCTest

@testable import CodableSync

/// The same records for another version of the app, which requires an additional field.
private struct StrictItem: RecordCodable, Equatable {
    static let recordType = "Item"

    var id: String
    var mandatory: Int
    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<StrictItem>) throws -> StrictItem? { conflict.client }
}

/// Row C25 of the malformed inputs, and damage that must not cost a neighboring edit.
final class MalformedStateModelTests: StateFileScenario {
    // C25
    func testAnEditThatTheAppCanNoLongerDecodeIsListedAndSentUnchanged() async throws {
        let files = try await prepare()
        let changed = try makeDevice(StrictItem.self, on: files.disk)
        let pending = try await changed.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), Self.edits)
        XCTAssertTrue(pending.allSatisfy { $0.client == nil && !$0.isDeletion })
        let summary = try await changed.engine.sync()
        XCTAssertEqual(summary.sent, 3)
        XCTAssertEqual(summary.parked, 0)
        let server = try await serverRecords()
        XCTAssertEqual(server["p1"]?.fields["title"], "edit")
        try await changed.engine.close()
        let updated = try open(files)
        let models = try await updated.engine.allModels()
        XCTAssertEqual(models.map(\.id), Self.known + Self.edits)
    }

    // C25: resolving a conflict requires decoding the edit, so it waits for an update of the app.
    func testAnUndecodableEditInConflictIsParkedUntilAnUpdate() async throws {
        let files = try await prepare()
        let before = try open(files)
        pass()
        try await before.engine.upload(Note("known1", "mine", color: "red"))
        try await before.engine.close()
        try await serverSave(
            "known1",
            ["id": "known1", "title": "Tea", "note": "theirs", "count": 0, "mandatory": 1]
        )
        let changed = try makeDevice(StrictItem.self, on: files.disk)
        try await changed.engine.sync()
        let parked = try await changed.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["known1"])
        XCTAssertNil(parked.first?.client)
        XCTAssertEqual(parked.first?.server, StrictItem(id: "known1", mandatory: 1))
        XCTAssertEqual(parked.first?.parkReason?.kind, .contentsUnreadable)
        XCTAssertEqual(changed.events.parkedNames, ["known1"])
        try await changed.engine.close()

        let updated = try open(files)
        try await updated.engine.retry(named: ["known1"])
        try await updated.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["known1"]?.fields["title"], "mine")
        XCTAssertEqual(server["known1"]?.fields["note"], "theirs")
        try await assertEqualEverywhere(updated)
    }

    /// Runs `live` on a device, damages its journal at the first match of each name, and opens it again.
    private func damaged(
        _ names: [String],
        _ live: (Device<Note>) async throws -> Void
    ) async throws -> Device<Note> {
        let files = try await prepare()
        let phone = try open(files)
        try await live(phone)
        try await phone.engine.close()
        var bytes = files["journal-1.jsonl"]
        for name in names {
            let place = try XCTUnwrap(bytes.firstRange(of: Array(name.utf8)), name).lowerBound
            bytes[place + 1] ^= 1
        }
        files["journal-1.jsonl"] = bytes
        return try open(files)
    }

    // C15, P-11: the line of the edit's base version is damaged.
    func testAnEditSurvivesTheLossOfItsBaseVersion() async throws {
        let device = try await damaged(["\"title\":\"Tea\""]) { phone in
            self.pass()
            try await phone.engine.upload(Note("known1", "mine"))
        }
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, ["known1"] + Self.edits)
        // Sending before the first fetch must work, too.
        try await device.engine.sendChanges()
        try await device.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["known1"]?.fields["title"], "mine")
        XCTAssertFalse(device.events.all.contains { if case .editOfDeleted = $0 { true } else { false } })
        try await assertEqualEverywhere(device)
    }

    // C15: an older version, equal to the edit, is still there.
    func testAnEditIsNotComparedWithAVersionOlderThanItsBase() async throws {
        let device = try await damaged(["\"title\":\"Coffee\""]) { phone in
            self.pass()
            try await self.serverSave(Note("known1", "Coffee"))
            try await phone.engine.sync()
            _ = try await phone.drain()
            self.pass()
            try await phone.engine.upload(Note("known1", "Tea"))
        }
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, ["known1"])
        try await device.engine.sendChanges()
        try await device.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["known1"]?.fields["title"], "Tea")
        try await assertEqualEverywhere(device)
    }

    // C15: the line of the sent edit is damaged; the edit before it must not be sent again.
    func testAReplacedEditDoesNotComeBackWhenItsSuccessorIsLost() async throws {
        let device = try await damaged(["\"title\":\"second\""]) { phone in
            phone.database.isReachable = false
            try await phone.engine.upload(Note("p9", "first"))
            self.pass()
            try await phone.engine.upload(Note("p9", "second"))
            phone.database.isReachable = true
            try await phone.engine.sync()
        }
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, [])
        try await device.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["p9"]?.fields["title"], "second")
        try await assertEqualEverywhere(device)
    }

    // C6, C12: the snapshot's summary, which holds the listing's number, is damaged.
    func testADeletionIsNoticedEvenIfTheListingsNumberIsLost() async throws {
        let files = try await prepare()
        let phone = try open(files)
        try await phone.engine.resync()
        try await phone.engine.sync()
        _ = try await phone.drain()
        try await phone.engine.close()
        try files.compact()
        var bytes = files["snapshot-2.jsonl"]
        let place = try XCTUnwrap(bytes.firstRange(of: Array("{\"summary\"".utf8))).lowerBound
        bytes[place + 4] ^= 1
        files["snapshot-2.jsonl"] = bytes
        try await serverDelete("known2")
        let device = try open(files)
        try await device.engine.sync()
        let told = try await device.drain()
        XCTAssertEqual(told.first, .reset)
        XCTAssertFalse(told.flatMap(\.models).contains { $0.recordName == "known2" }, "\(told)")
        try await assertEqualEverywhere(device)
    }

    // I-06, D1: a crash at any call of the recovery does not change its result; at every third call, unless
    // all cases are requested.
    func testAnInterruptedRecoveryEndsWithTheSameResult() async throws {
        let files = try await prepare()
        var bytes = files["journal-1.jsonl"]
        let place = try XCTUnwrap(bytes.firstRange(of: Array("{\"zone\":1,\"name\":\"p2\"".utf8))).lowerBound
        bytes[place + 9] ^= 1
        files["journal-1.jsonl"] = bytes
        for call in Cases.places(every: 3) {
            var interrupted = files.copy()
            interrupted.disk.powerOff(at: call, .before)
            let first = try open(interrupted)
            let wasInterrupted: Bool
            do {
                _ = try await first.pendingNames()
                wasInterrupted = false
            } catch is SyncError {
                wasInterrupted = true
            }
            interrupted.disk = interrupted.disk.crashed(keeping: .random(seed: UInt64(call)))
            try await first.engine.close()
            let second = try open(interrupted)
            let pending = try await second.pendingNames()
            XCTAssertEqual(pending, ["p1", "p3"], "call \(call)")
            let notes = try await second.engine.diagnostics().notes.filter { $0.kind == .recovered }
            XCTAssertFalse(notes.isEmpty, "call \(call): the recovery is still noted")
            XCTAssertTrue(interrupted.quarantine.contains(bytes), "call \(call): the damaged file is kept")
            try await second.engine.close()
            if !wasInterrupted { return XCTAssertGreaterThan(call, 20) }
        }
        XCTFail("the recovery never finished")
    }
}
