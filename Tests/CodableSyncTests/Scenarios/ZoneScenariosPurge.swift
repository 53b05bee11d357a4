import XCTest

@testable import CodableSync

/// Scenarios, group K: the user deletes the app's data in the system settings.
class ZoneScenariosPurge: ZoneScenario {
    /// A device with a known record and an edit of another, after it has detected the purge.
    private func makePurged() async throws -> Device<Note> {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload([Note("a", "Tea"), Note("b", "Milk")])
        try await phone.engine.sync()
        try await show(phone)
        try await phone.engine.upload(Note("b", "Oat milk"))
        try await remove(.purged)
        try await assertWaits(phone)
        return phone
    }

    private func assertWaits(_ phone: Device<Note>, file: StaticString = #filePath, line: UInt = #line)
        async throws
    {
        for call in [phone.engine.sync, phone.engine.sendChanges, phone.engine.fetchChanges] {
            do {
                _ = try await call()
                XCTFail("The purge was not reported.", file: file, line: line)
            } catch {
                XCTAssertEqual(
                    error as? SyncError,
                    .waitingForDecision,
                    file: file,
                    line: line
                )
            }
        }
    }

    private func requests(_ phone: Device<Note>) -> [Int] {
        ScriptedDatabase.Operation.allCases.filter { $0 != .account }.map { phone.database.count($0) }
    }

    /// ZA-04, I-42.
    func testAPurgeStopsSyncUntilTheAppDecides() async throws {
        let phone = try await makePurged()
        XCTAssertTrue(phone.events.all.contains(.zoneLost(.purged)))
        let before = requests(phone)
        for _ in 0..<2 {
            let kept = try await phone.engine.allModels()
            XCTAssertEqual(kept, [Note("a", "Tea"), Note("b", "Oat milk")])
            try await assertWaits(phone)
            let undelivered = try await phone.engine.diagnostics().undeliveredCount
            XCTAssertEqual(undelivered, 0)
            let outcome = await phone.engine.handleNotification(["zone": "Item"])
            XCTAssertEqual(outcome, .noData)
            try await phone.restart()
        }
        XCTAssertEqual(requests(phone), before)
        let titles = try await serverTitles()
        XCTAssertEqual(titles, [:])
        let notes = try await phone.engine.diagnostics().notes.map(\.kind)
        XCTAssertEqual(notes, [.zoneLost])
    }

    /// ZA-04: the same with automatic sync.
    func testAnAutomaticEngineSendsNoRequestUntilTheAppDecides() async throws {
        let phone = try await makePurged()
        phone.configuration.automaticallySyncs = true
        phone.configuration.pollInterval = .seconds(60)
        try await phone.restart()
        let statuses = Told<[SyncStatus]>([])
        let stream = phone.engine.status
        let watching = Task { for await status in stream { statuses.withLock { $0.append(status) } } }
        let before = requests(phone)
        try await phone.engine.start()
        try await phone.engine.upload(Note("c", "Bread"))
        await statuses.reach("the status is `waitingForDecision`") { $0.last == .waitingForDecision }
        let status = try await phone.engine.diagnostics().status
        XCTAssertEqual(status, .waitingForDecision)
        for _ in 0..<5 {
            pass(.seconds(100))
            await phone.engine.core.process(.signal(.changes(in: nil)))
            await phone.engine.core.process(.timePassed)
        }
        XCTAssertEqual(requests(phone), before)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["b", "c"])
        try await phone.engine.resolvePurge(.uploadAgain)
        try await quiet(phone)
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["a": "Tea", "b": "Oat milk", "c": "Bread"])
        watching.cancel()
    }

    /// ZA-04: edits and deletions made before the decision are included.
    func testUploadingAgainSendsKnownRecordsAndLaterEdits() async throws {
        let phone = try await makePurged()
        try await phone.engine.upload([Note("c", "Bread"), Note("d", "Salt")])
        try await phone.engine.delete(named: ["d"])
        try await phone.engine.resolvePurge(.uploadAgain)
        try await phone.restart()
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["a": "Tea", "b": "Oat milk", "c": "Bread"])
        let told = try await phone.drain()
        XCTAssertEqual(told.deletedNames, [])
        try await assertEqualEverywhere(phone)
    }

    /// ZA-04: records deleted before the decision are not uploaded again.
    func testRecordsDeletedBeforeTheDecisionStayDeleted() async throws {
        let phone = try await makePurged()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.resolvePurge(.uploadAgain)
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["b": "Oat milk"])
        try await assertEqualEverywhere(phone)
    }

    /// ZA-04: edits that the cloud never had count as new data.
    func testRemovingLocallyDeliversDeletionsAndKeepsEdits() async throws {
        let phone = try await makePurged()
        try await phone.engine.upload(Note("c", "Bread"))
        try await phone.engine.resolvePurge(.removeLocal)
        let told = try await phone.drain()
        XCTAssertEqual(told, [.deleted(["a"])])
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["b", "c"])
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["b": "Oat milk", "c": "Bread"])
        try await assertEqualEverywhere(phone)
    }

    /// ZA-04: the user can discard edits before removing local records.
    func testEditsDiscardedBeforeTheDecisionAreRemovedToo() async throws {
        let phone = try await makePurged()
        try await phone.engine.discard(named: ["b"])
        try await phone.engine.resolvePurge(.removeLocal)
        let told = try await phone.drain()
        XCTAssertEqual(told.deletedNames, ["a", "b"])
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, [:])
    }

    /// ZA-04: a second purge needs another decision.
    func testASecondPurgeNeedsAnotherDecision() async throws {
        let phone = try await makePurged()
        try await phone.engine.resolvePurge(.uploadAgain)
        try await phone.engine.sync()
        try await remove(.purged)
        try await assertWaits(phone)
        // The second answer has no effect.
        try await phone.engine.resolvePurge(.removeLocal)
        try await phone.engine.resolvePurge(.uploadAgain)
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, [:])
        let left = try await phone.engine.allModels()
        XCTAssertEqual(left, [])
    }

    /// ZA-04: the zone is purged again during the upload that follows the decision.
    func testAPurgeDuringTheNextUploadNeedsAnotherDecision() async throws {
        let phone = try await makePurged()
        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        try await phone.engine.resolvePurge(.uploadAgain)
        let syncing = phone.beginSync()
        await gate.reached()
        try await remove(.purged)
        gate.open()
        let result = await syncing.result
        XCTAssertThrowsError(try result.get()) {
            XCTAssertEqual($0 as? SyncError, .waitingForDecision)
        }
        let kept = try await phone.engine.allModels()
        XCTAssertEqual(kept.map(\.id), ["a", "b"])
        try await phone.engine.resolvePurge(.uploadAgain)
        try await phone.engine.sync()
        try await assertEqualEverywhere(phone)
    }

    /// Z1: two devices detect one purge, and their users decide differently.
    func testTwoDevicesThatDecideDifferentlyConverge() async throws {
        for first in [PurgeAnswer.uploadAgain, .removeLocal] {
            for second in [PurgeAnswer.uploadAgain, .removeLocal] {
                try setUpWithError()
                let (phone, tablet) = try await makePair(Note("a", "Tea"), Note("b", "Milk"))
                try await phone.engine.upload(Note("b", "Oat milk"))
                try await tablet.engine.upload(Note("b", "Milk", note: "cold"))
                try await remove(.purged)
                try await sync(phone, deciding: nil)
                try await sync(tablet, deciding: nil)
                try await sync(phone, deciding: first)
                try await sync(tablet, deciding: second)
                try await settle(phone, tablet)
                try await assertEqualEverywhere(phone, tablet)
                let server = try await serverRecords()
                let isKept = [first, second].contains(.uploadAgain)
                XCTAssertEqual(server.keys.sorted(), isKept ? ["a", "b"] : ["b"], "\(first), \(second)")
                // Both edits count as new data and are merged.
                XCTAssertEqual(server["b"]?.fields["title"], "Oat milk", "\(first), \(second)")
                XCTAssertEqual(server["b"]?.fields["note"], "cold", "\(first), \(second)")
            }
        }
    }

    /// Z1: an app can answer the event immediately.
    func testAPurgeIsReportedOnceItCanBeAnswered() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("a"))
        try await phone.engine.sync()
        try await remove(.purged)
        let gate = Gate()
        phone.database.plan(.fetch, .holdBefore(gate))
        let run = phone.beginSync()
        await gate.reached()
        let loss = files.hold(.append)
        gate.open()
        await loss.reached()
        let isTold = phone.events.all.contains(.zoneLost(.purged))
        XCTAssertFalse(isTold, "an answer would have no effect yet")
        loss.release()
        await assertThrows(.waitingForDecision) { try await run.value }
        XCTAssertTrue(phone.events.all.contains(.zoneLost(.purged)))
        try await phone.engine.resolvePurge(.uploadAgain)
        try await phone.engine.sync()
        try await assertEqualEverywhere(phone)
    }

    /// A read while the answer is being stored does not make the next edit an edit of the removed record.
    func testAnEditAfterAPurgeAnswerIsKeptDespiteAReadDuringIt() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("a", "Tea"))
        try await phone.engine.sync()
        _ = try await phone.drain()
        try await remove(.purged)
        try await sync(phone, deciding: nil)
        let storing = files.hold(.append)
        let answer = Task { [engine = phone.engine] in try await engine.resolvePurge(.removeLocal) }
        await storing.reached()
        _ = try await phone.engine.model(named: "a")
        storing.release()
        try await answer.value
        try await phone.engine.upload(Note("a", "Coffee"))
        try await phone.engine.sync()
        let titles = try await serverTitles()
        XCTAssertEqual(titles, ["a": "Coffee"])
    }
}

final class ZoneScenariosPurgeOnLocalDatabase: ZoneScenariosPurge {
    override var isLocal: Bool { true }

    func testTheDatabaseIsADirectory() throws {
        XCTAssertTrue(try makeDevice(Note.self).database.base is LocalDatabase)
    }
}
