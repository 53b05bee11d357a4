import XCTest

@testable import CodableSync

/// A request that creates a record is given up, and the network delivers it behind the record's deletion.
///
/// Nothing in such a request says that it is old, so the server makes the record again. The device that sent it must
/// not let that undo a deletion which a call has confirmed.
final class LateCreationScenarios: LateRequestScenario {
    func testADeletionIsNotUndoneByACreationThatArrivesBehindIt() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        try await tablet.engine.sync()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        late.release()
        XCTAssertEqual(cloud.records(user: "alice", in: ZoneID(zoneName: "Item")).count, 1)
        try await assertModels([], phone, tablet)
        // Nobody was told of a note that the user of the phone has deleted.
        let told = try await phone.drain()
        XCTAssertFalse(told.contains { !$0.models.isEmpty }, "\(told)")
        let notes = try await phone.engine.diagnostics().notes.map(\.message)
        XCTAssertTrue(notes.contains { $0.contains("after the deletion") }, "\(notes)")
    }

    /// What recognises the creation survives the process, and a loss of power.
    func testADeletionIsNotUndoneAfterACrash() async throws {
        let (phone, network) = makePhone(on: SimulatedFileSystem())
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.crash()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        try await phone.crash()
        pass()
        late.release()
        try await assertModels([], phone)
    }

    /// The device has sent the creation again, with success, so that it knows nothing of the first request's fate.
    func testACopyOfAConfirmedCreationIsRecognised() async throws {
        let (phone, network) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a", "newer"))
        try await phone.engine.sync()
        try await phone.restart()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        late.release()
        try await assertModels([], phone)
    }

    /// Two different requests that create the record are on their way.
    func testEachOfSeveralCreationsIsRecognised() async throws {
        let (phone, network) = makePhone()
        let first = try await uploadLate(Note("a", "first"), phone, network)
        let second = try await uploadLate(Note("a", "second"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        second.release()
        try await assertModels([], phone)
        first.release()
        try await assertModels([], phone)
    }

    /// The deletion of another device is a promise, too; only the device that sent the creation can keep it.
    func testTheDeletionByAnotherDeviceIsNotUndone() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        // The phone learns of the deletion, and its app has not been told yet.
        try await phone.engine.fetchChanges()
        pass()
        late.release()
        try await assertModels([], phone, tablet)
        let told = try await phone.drain()
        XCTAssertFalse(told.contains { !$0.models.isEmpty }, "\(told)")
    }

    /// The feed has only what the late creation has made, not the deletion before.
    func testADeletionThatIsNotInTheFeedIsNotUndone() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        let late = try await uploadLate(Note("a", "first"), phone, network)
        try await phone.engine.upload(Note("a", "text"))
        try await assertModels([Note("a", "text")], phone, tablet)
        try await show(phone)
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        pass()
        late.release()
        try await assertModels([], phone, tablet)
        let told = try await phone.drain()
        XCTAssertEqual(told.last, .deleted(["a"]))
    }

    /// An app that shows the note learns of its deletion, even if the engine has deleted it again before.
    func testTheAppIsToldOfADeletionThatWasRepeated() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.sync()
        try await show(phone)
        try await tablet.engine.sync()
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        try await phone.engine.fetchChanges()
        pass()
        late.release()
        try await assertModels([], phone, tablet)
        let told = try await phone.drain()
        XCTAssertEqual(told, [.deleted(["a"])])
    }

    // MARK: What is no late creation

    /// Another device uploads the same contents again: another edit, with a date of its own.
    func testARecordThatAnotherDeviceRestoresStays() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        try await tablet.engine.sync()
        pass()
        try await tablet.engine.upload(Note("a", "text"))
        try await tablet.engine.sync()
        try await assertModels([Note("a", "text")], phone, tablet)
        // The server refuses the late creation, since it has the record.
        late.release()
        try await assertModels([Note("a", "text")], phone, tablet)
    }

    /// The user undoes the deletion before the creation arrives.
    func testARecordThatThisDeviceUploadsAgainStays() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        try await phone.engine.upload(Note("a", "again"))
        late.release()
        // The save meets the record.
        try await phone.engine.sendChanges()
        try await assertModels([Note("a", "again")], phone, tablet)
        assertNoConflict(phone)
    }

    /// The same if the device fetches the record first.
    func testARecordThatThisDeviceUploadsAgainReplacesWhatItFetches() async throws {
        let (phone, network) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass()
        late.release()
        try await phone.engine.upload(Note("a", "again"))
        try await phone.engine.fetchChanges()
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models, [Note("a", "again")])
        try await assertModels([Note("a", "again")], phone)
        assertNoConflict(phone)
    }

    /// The record was never deleted, whatever this device forgets about it.
    func testARecordThatIsFetchedAgainStays() async throws {
        let (phone, network) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.sync()
        late.release()
        try await phone.engine.resync()
        try await assertModels([Note("a", "text")], phone)
        try cloud.expireTokens(user: "alice")
        try await assertModels([Note("a", "text")], phone)
    }

    /// A device that fetches a creation of its own for the first time has deleted nothing.
    func testACreationThatIsOnlyLateStays() async throws {
        let (phone, network) = makePhone()
        let late = try await uploadLate(Note("a", "text"), phone, network)
        late.release()
        try await assertModels([Note("a", "text")], phone)
    }

    /// After the loss of the zone, other devices upload what they have, with its dates.
    func testARecordOfTheNextZoneStays() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        _ = try await uploadLate(Note("a", "text"), phone, network)
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        try cloud.resetEncryptedData(in: ZoneID(zoneName: "Item"), user: "alice")
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await assertModels([Note("a", "text")], phone, tablet)
    }
}
