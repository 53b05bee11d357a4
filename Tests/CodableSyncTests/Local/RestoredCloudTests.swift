import XCTest

@testable import CodableSync

/// A cloud's directory is restored to an earlier state: devices upload everything they know, and nothing is
/// deleted.
final class RestoredCloudTests: RestoredCloudScenario {
    private func notes(_ prefix: String, _ count: Int) -> [Note] {
        (0..<count).map { Note("\(prefix)\($0 + 1)", "\(prefix)\($0 + 1)") }
    }

    /// Three records, a backup, five more records, the restore, then seven more by another device.
    func testDevicesAgreeAgainAfterARestore() async throws {
        for manner in RestorableCloud.Manner.allCases {
            for isRestarted in [false, true] {
                try setUpWithError()
                var devices: [Device<Note>] = try (0..<3).map { _ in try makeDevice() }
                try await devices[0].engine.upload(notes("old", 3))
                try await settle(devices[0], devices[1], devices[2])
                let backup = cloud.backup
                try await devices[0].engine.upload(notes("lost", 5))
                try await settle(devices[0], devices[1])
                try cloud.restore(backup, manner)
                if isRestarted {
                    for index in devices.indices { devices[index] = try await newProcess(of: devices[index]) }
                }
                try await devices[2].engine.upload(notes("new", 7))
                try await devices[2].engine.sync()
                try await settle(devices[0], devices[1], devices[2])
                let row = "\(manner), restarted: \(isRestarted)"
                for device in devices {
                    let count = try await device.engine.allModels().count
                    XCTAssertEqual(count, 15, row)
                }
                try await assertEqualEverywhere(devices[0], devices[1], devices[2])
                assertTold(devices[0])
                assertTold(devices[1])
            }
        }
    }

    /// Without any edits, the device that fetched the lost records does not delete them.
    func testNothingIsLostInAnyOrderOfSyncs() async throws {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            try setUpWithError()
            let devices: [Device<Note>] = try (0..<3).map { _ in try makeDevice() }
            try await devices[0].engine.upload(notes("old", 3))
            try await settle(devices[0], devices[1], devices[2])
            let backup = cloud.backup
            try await devices[0].engine.upload(notes("lost", 5))
            try await settle(devices[0], devices[1])
            try cloud.restore(backup, .inPlace)
            for index in order { try await devices[index].engine.sync() }
            try await settle(devices[0], devices[1], devices[2])
            let count = try await serverRecords().count
            XCTAssertEqual(count, 8, "\(order)")
            try await assertEqualEverywhere(devices[0], devices[1], devices[2])
        }
    }

    /// The history after the restore is shorter than, as long as, or longer than the lost one, and a process
    /// stays open throughout.
    func testAProcessThatStaysOpenNoticesARestoreOfAnySize() async throws {
        for manner in RestorableCloud.Manner.allCases {
            for newCount in [0, 1, 3, 8] {
                try setUpWithError()
                let phone: Device<Note> = try makeDevice()
                let tablet: Device<Note> = try makeDevice()
                try await phone.engine.upload(Note("old"))
                try await settle(phone, tablet)
                let backup = cloud.backup
                for note in notes("a", 3) {
                    try await phone.engine.upload(note)
                    try await phone.engine.sync()
                }
                try cloud.restore(backup, manner)
                for note in notes("b", newCount) {
                    try await tablet.engine.upload(note)
                    try await tablet.engine.sync()
                }
                try await settle(phone, tablet)
                let count = try await serverRecords().count
                XCTAssertEqual(count, 4 + newCount, "\(manner), \(newCount) new")
                try await assertEqualEverywhere(phone, tablet)
            }
        }
    }

    /// The edit carries the tag of a lost version, and continuing the old numbering would reuse that tag.
    func testAnEditOfALostVersionOverwritesNothing() async throws {
        for sendsFirst in [false, true] {
            try setUpWithError()
            let phone: Device<Note> = try makeDevice()
            let tablet: Device<Note> = try makeDevice()
            try await phone.engine.upload(Note("a", "tea"))
            try await settle(phone, tablet)
            try await show(phone, tablet)
            let backup = cloud.backup
            pass()
            try await phone.engine.upload(Note("a", "tea", note: "lost"))
            try await phone.engine.sync()
            try await show(phone)
            try cloud.restore(backup, .newFiles)
            pass()
            try await tablet.engine.upload(Note("a", "tea", color: "green"))
            try await tablet.engine.sync()
            pass()
            try await phone.engine.upload(Note("a", "hot tea", note: "lost"))
            if sendsFirst { try await phone.engine.sendChanges() }
            try await settle(phone, tablet)
            let models = try await tablet.engine.allModels()
            let expected = Note("a", "hot tea", note: "lost", color: "green")
            XCTAssertEqual(models, [expected], "sends first: \(sendsFirst)")
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// The edited record exists only in the lost part; it must not count as deleted by another device.
    func testAnEditOfALostRecordIsKept() async throws {
        for sendsFirst in [false, true] {
            try setUpWithError()
            let phone: Device<Note> = try makeDevice()
            try await phone.engine.upload(Note("old"))
            try await phone.engine.sync()
            let backup = cloud.backup
            try await phone.engine.upload(Note("lost", "first"))
            try await phone.engine.sync()
            try await show(phone)
            try cloud.restore(backup, .newFiles)
            pass()
            try await phone.engine.upload(Note("lost", "second"))
            if sendsFirst { try await phone.engine.sendChanges() }
            try await settle(phone)
            let shown = try await titles(phone)
            XCTAssertEqual(shown, ["", "second"], "sends first: \(sendsFirst)")
            try await assertEqualEverywhere(phone)
        }
    }

    /// The token of the database feed also belongs to the lost history.
    func testARestoreToATimeBeforeTheZoneDeletesNothing() async throws {
        for manner in RestorableCloud.Manner.allCases {
            for isRecreated in [false, true] {
                try setUpWithError()
                let phone: Device<Note> = try makeDevice()
                let tablet: Device<Note> = try makeDevice()
                // The history in the backup ends with a zone deletion that is no longer relevant.
                try await phone.engine.upload(Note("older"))
                try await phone.engine.sync()
                let zoneID = ZoneID(zoneName: "Item")
                _ = try await phone.database.base.modifyRecordZones(saving: [], deleting: [zoneID])
                let backup = cloud.backup
                try await phone.engine.sync()
                try await phone.engine.upload(Note("a", "tea"))
                try await settle(phone, tablet)
                try cloud.restore(backup, manner)
                if isRecreated {
                    try await tablet.engine.sync()
                    try await tablet.engine.upload(Note("b", "milk"))
                    try await tablet.engine.sync()
                }
                try await settle(phone, tablet)
                let shown = try await titles(phone)
                XCTAssertTrue(shown.contains("tea"), "\(manner), re-created: \(isRecreated): \(shown)")
                try await assertEqualEverywhere(phone, tablet)
            }
        }
    }

    /// The log was removed or moved away, and another device created a new one.
    func testAnotherLedgerInTheSamePlaceDeletesNothing() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await phone.engine.upload(Note("a", "tea"))
        try await phone.engine.sync()
        try cloud.restore(cloud.backup.filter { $0.key.hasSuffix("/cloud.json") }, .newFiles)
        try await tablet.engine.upload(notes("b", 9))
        try await tablet.engine.sync()
        try await settle(phone, tablet)
        let count = try await serverRecords().count
        XCTAssertEqual(count, 10)
        try await assertEqualEverywhere(phone, tablet)
        assertTold(phone)
    }

    /// The whole directory was replaced by another cloud's while an engine used it.
    func testAnotherCloudInTheSamePlaceIsRefused() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await phone.engine.upload(Note("a", "tea"))
        try await phone.engine.sync()
        try cloud.restore([:], .newFiles)
        try await tablet.engine.sync()
        do {
            try await phone.engine.sync()
            XCTFail("it is another cloud")
        } catch let error as SyncError {
            XCTAssertEqual(error.cloudError?.code, .badDatabase)
            XCTAssertTrue(error.message.contains("is now the cloud"), error.message)
        }
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models, [Note("a", "tea")])
    }

    func testARestoreDuringAFetchLosesNothing() async throws {
        for manner in RestorableCloud.Manner.allCases {
            try setUpWithError()
            let phone: Device<Note> = try makeDevice()
            let tablet: Device<Note> = try makeDevice { $0.fetchPageSize = 2 }
            try await phone.engine.upload(notes("old", 3))
            try await phone.engine.sync()
            let backup = cloud.backup
            try await phone.engine.upload(notes("lost", 5))
            try await phone.engine.sync()
            let gate = Gate()
            tablet.database.plan(.fetch, .holdAfter(Gate.opened), .holdBefore(gate))
            let listing = tablet.beginSync()
            await gate.reached()
            try cloud.restore(backup, manner)
            try await serverDelete("old1")
            gate.open()
            _ = await listing.result
            try await tablet.engine.sync()
            let shown = try await titles(tablet)
            XCTAssertEqual(shown.filter { $0 == "old3" }, ["old3"], "\(manner)")
            try await settle(phone, tablet)
            let names = try await serverRecords().keys
            XCTAssertTrue(names.contains("lost5"), "\(manner)")
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// A power failure has removed the end of the journal.
    func testATruncatedJournalIsHandledLikeARestore() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await phone.engine.upload(Note("old"))
        try await settle(phone, tablet)
        let path = "/cloud/journal-1.jsonl"
        let size = try XCTUnwrap(cloud.disk.bytes(at: path)).count
        try await phone.engine.upload(notes("lost", 2))
        try await settle(phone, tablet)
        try cloud.disk.openFile(at: path, for: .appending).truncate(to: UInt64(size))
        try await phone.engine.upload(Note("new"))
        try await settle(phone, tablet)
        let names = try await serverRecords().keys.sorted()
        XCTAssertEqual(names, ["lost1", "lost2", "new", "old"])
        try await assertEqualEverywhere(phone, tablet)
    }

    /// Records in both histories stay, and records deleted after the restore stay deleted.
    func testADeviceThatNeverSawTheLostPartSyncsNormally() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await phone.engine.upload(notes("old", 3))
        try await settle(phone, tablet)
        let backup = cloud.backup
        try await phone.engine.upload(Note("lost"))
        try await phone.engine.sync()
        try cloud.restore(backup, .newFiles)
        try await serverDelete("old2")
        try await tablet.engine.sync()
        let shown = try await titles(tablet)
        XCTAssertEqual(shown, ["old1", "old3"])
        XCTAssertFalse(tablet.events.all.contains(.zoneLost(nil)))
    }

    /// The device hasn't fetched since its upload, so only the upload's change tag belongs to the lost part.
    func testADeviceThatOnlyUploadedTheLostPartUploadsItAgain() async throws {
        for isRestarted in [false, true] {
            try setUpWithError()
            var phone: Device<Note> = try makeDevice()
            let tablet: Device<Note> = try makeDevice()
            try await phone.engine.upload(Note("old"))
            try await settle(phone, tablet)
            let backup = cloud.backup
            try await phone.engine.upload(notes("lost", 5))
            try await phone.engine.sendChanges()
            try cloud.restore(backup, .newFiles)
            if isRestarted { phone = try await newProcess(of: phone) }
            try await tablet.engine.upload(notes("new", 7))
            try await settle(tablet, phone)
            let count = try await serverRecords().count
            XCTAssertEqual(count, 13, "restarted: \(isRestarted)")
            try await assertEqualEverywhere(phone, tablet)
            assertTold(phone)
        }
    }

    func testRepeatedRestoresAreNoticed() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await phone.engine.upload(Note("old"))
        try await settle(phone, tablet)
        let backup = cloud.backup
        for round in 1...3 {
            try await phone.engine.upload(Note("p\(round)"))
            try await tablet.engine.upload(Note("t\(round)"))
            try await settle(phone, tablet)
            try cloud.restore(backup, .inPlace)
        }
        try await settle(tablet, phone)
        let count = try await serverRecords().count
        XCTAssertEqual(count, 7)
        try await assertEqualEverywhere(phone, tablet)
    }

    /// Pending changes survive a restore like any other loss of the zone.
    func testPendingChangesSurviveARestore() async throws {
        for sendsFirst in [false, true] {
            try setUpWithError()
            let phone: Device<Note> = try makeDevice()
            let tablet: Device<Note> = try makeDevice()
            try await phone.engine.upload(notes("old", 3))
            try await settle(phone, tablet)
            let backup = cloud.backup
            try await phone.engine.upload(notes("lost", 3))
            try await settle(phone, tablet)
            try cloud.restore(backup, .newFiles)
            pass()
            try await phone.engine.upload([Note("old1", "edited"), Note("lost1", "edited"), Note("made")])
            if sendsFirst { try await phone.engine.sendChanges() }
            try await settle(phone, tablet)
            let shown = try await titles(tablet)
            let expected = ["", "edited", "edited", "lost2", "lost3", "old2", "old3"]
            XCTAssertEqual(shown, expected, "sends first: \(sendsFirst)")
            try await assertEqualEverywhere(phone, tablet)
        }
    }
}
