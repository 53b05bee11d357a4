import XCTest

@testable import CodableSync

/// What a device must not delete, or not let come back, when it meets a late creation of its own.
final class LateCreationLimitScenarios: LateRequestScenario {
    /// Sends, which may fail.
    private func tryToSend(_ phone: Device<Note>) async throws {
        do { try await phone.engine.sendChanges() } catch let error as SyncError where error.code == .cloud {}
    }

    /// A user of the tablet edits what has come back, before the phone repeats the deletion.
    func testAnEditOfTheRecordThatCameBackIsKept() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        try await tablet.engine.sync()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        late.release()
        try await tablet.engine.sync()
        let seen = try await tablet.engine.allModels()
        XCTAssertEqual(seen, [Note("a", "text")])
        // The phone fetches, and loses its network before it sends.
        try await phone.engine.fetchChanges()
        pass()
        try await tablet.engine.upload(Note("a", "an edit made by a person after the deletion"))
        try await tablet.engine.sync()
        pass()
        try await syncInTurn(phone, tablet)
        XCTAssertEqual(stored(), ["a"])
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, [Note("a", "an edit made by a person after the deletion")])
    }

    /// Discarding the edit forgets that its creation may be on its way.
    func testADiscardedCreationThatIsDeletedStaysDeleted() async throws {
        let (phone, network) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.discard(named: ["a"])
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        late.release()
        try await syncInTurn(phone)
        XCTAssertEqual(stored(), [])
    }

    /// The phone deleted the record; a replica that lags behind still shows the creation, while the tablet has uploaded
    /// the record again.
    func testALaggingPageAfterAnOwnDeletionDeletesNothing() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        try await tablet.engine.sync()
        network.on(.modifyRecords, .loseResponse())
        try await phone.engine.upload(Note("a", "text"))
        try await tryToSend(phone)
        let old = try XCTUnwrap(
            cloud.record(RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Item")), user: "alice")
        )
        pass()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        try await tablet.engine.sync()
        try await tablet.engine.upload(Note("a", "made on the tablet"))
        try await tablet.engine.sync()
        pass()
        network.on(
            .recordZoneChanges,
            .edit(ZoneChanges.self) { page in
                page.modifications[old.recordID] = .success(old)
            }
        )
        try await phone.engine.sync()
        pass()
        try await syncInTurn(phone, tablet)
        XCTAssertEqual(stored(), ["a"])
    }

    /// The user has signed out and in again in the meantime.
    func testADeletionIsNotUndoneAfterASignOut() async throws {
        let (phone, network) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        network.signOut()
        await tryToSync(phone)
        pass()
        network.signIn(user: "alice")
        await tryToSync(phone)
        pass()
        late.release()
        try await syncInTurn(phone)
        XCTAssertEqual(stored(), [])
    }

    /// Conflicts that a look-up does not confirm: requests must not go on without a pause.
    func testConflictsThatNoLookUpConfirmsDoNotSpin() async throws {
        let (phone, network) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        try await phone.engine.upload(Note("a", "again"))
        late.release()
        let lookUps = Locked(0)
        network.on(
            .records,
            .edit([RecordID: Result<Record, CloudError>].self) { found in
                // So that a loop without a pause ends.
                let count = lookUps.withLock { count in
                    count += 1
                    return count
                }
                guard count < 50 else { return }
                for id in found.keys { found[id] = .failure(CloudError(.unknownItem)) }
            },
            times: nil
        )
        let engine = phone.engine
        let work = Task { try await engine.sendChanges() }
        try await quiet(phone)
        work.cancel()
        _ = await work.result
        let count = lookUps.withLock { $0 }
        XCTAssertLessThan(count, 10)
    }

    /// An upload after the deletion arrives, its response is lost, and the app discards it.
    func testAnUploadThatArrivedAndWasDiscardedIsNotDeleted() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        _ = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        network.on(.modifyRecords, .loseResponse())
        try await phone.engine.upload(Note("a", "again"))
        try await tryToSend(phone)
        pass()
        try await tablet.engine.sync()
        let seen = try await tablet.engine.allModels()
        XCTAssertEqual(seen, [Note("a", "again")])
        try await phone.engine.discard(named: ["a"])
        try await syncInTurn(phone, tablet)
        XCTAssertEqual(stored(), ["a"], "nobody deleted the second upload")
    }

    /// As `testARecordOfTheNextZoneStays`, but the tablet is the first to notice the loss of the zone.
    func testARecordOfTheNextZoneStaysWhoeverIsFirst() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        _ = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        try cloud.resetEncryptedData(in: ZoneID(zoneName: "Item"), user: "alice")
        try await tablet.engine.sync()
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await phone.engine.sync()
        XCTAssertEqual(stored(), ["a"])
    }

    /// The edit is a draft of the record that came back, saved on the phone itself after it has fetched.
    func testAnUploadOnThePhoneItselfAfterTheFetchStays() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        late.release()
        try await phone.engine.fetchChanges()
        pass()
        try await phone.engine.upload(Note("a", "mine"))
        try await syncInTurn(phone, tablet)
        XCTAssertEqual(stored(), ["a"])
    }

    /// The record that came back cannot be deleted for long; another device replaces it by another record with its name.
    func testARecordThatAnotherDeviceMakesAnewIsNotDeletedByALateRepetition() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        try await tablet.engine.sync()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        late.release()
        try await tablet.engine.sync()
        network.on(.modifyRecords, .fail(CloudError(.networkFailure)))
        await tryToSync(phone)
        pass()
        // The tablet's user deletes it as well, and writes another one.
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        pass()
        try await tablet.engine.upload(Note("a", "another one"))
        try await tablet.engine.sync()
        pass()
        for _ in 0..<3 {
            await tryToSync(phone)
            try await tablet.engine.sync()
            pass()
        }
        XCTAssertEqual(stored(), ["a"])
    }
}
