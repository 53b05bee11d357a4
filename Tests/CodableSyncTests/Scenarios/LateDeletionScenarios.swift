import XCTest

@testable import CodableSync

/// A request that deletes a record is given up, and the network delivers it behind a later upload of the record.
///
/// The server deletes whatever it has. An upload that was confirmed in the meantime must not be lost by that.
final class LateDeletionScenarios: LateRequestScenario {
    /// Two devices that have a note, and the deletion of one of them that stays on its way.
    private func begin(on disk: any FileSystem = MemoryFileSystem()) async throws -> (
        phone: Device<Note>, network: FakeDatabase, tablet: Device<Note>, late: FakeHold
    ) {
        let (phone, network) = makePhone(on: disk)
        let (tablet, _) = makePhone()
        try await phone.engine.upload(Note("a", "text"))
        try await assertModels([Note("a", "text")], phone, tablet)
        return (phone, network, tablet, try await deleteLate("a", phone, network))
    }

    func testAnUploadIsNotLostByADeletionThatArrivesBehindIt() async throws {
        let (phone, _, tablet, late) = try await begin()
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        _ = try await phone.drain()
        late.release()
        XCTAssertEqual(stored(), [])
        try await assertModels([Note("a", "again")], phone, tablet)
        let told = try await phone.drain()
        XCTAssertFalse(told.contains(.deleted(["a"])), "\(told)")
        let notes = try await phone.engine.diagnostics().notes.map(\.message)
        XCTAssertTrue(notes.contains { $0.contains("after a later upload") }, "\(notes)")
    }

    /// The deletion was sent again with success, so that the device knows nothing of the first request's fate.
    func testAnUploadBehindARepeatedDeletionIsNotLost() async throws {
        let (phone, _, tablet, late) = try await begin()
        try await assertModels([], phone, tablet)
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        late.release()
        try await assertModels([Note("a", "again")], phone, tablet)
    }

    /// The upload has the contents that the cloud has already, so there is nothing to save.
    func testAnUndoneDeletionIsNotDone() async throws {
        let (phone, _, tablet, late) = try await begin()
        try await phone.engine.upload(Note("a", "text"))
        try await assertModels([Note("a", "text")], phone, tablet)
        late.release()
        try await assertModels([Note("a", "text")], phone, tablet)
    }

    func testTheNoteSurvivesALossOfPower() async throws {
        let (phone, _, _, late) = try await begin(on: SimulatedFileSystem())
        try await phone.crash()
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a", "again"))
        try await phone.engine.sync()
        try await phone.crash()
        pass()
        late.release()
        try await assertModels([Note("a", "again")], phone)
    }

    /// Another device has edited what was uploaded again.
    func testAnEditOfAnotherDeviceIsNotLostEither() async throws {
        let (phone, _, tablet, late) = try await begin()
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        try await tablet.engine.upload(Note("a", "made on the tablet"))
        try await assertModels([Note("a", "made on the tablet")], phone, tablet)
        late.release()
        try await assertModels([Note("a", "made on the tablet")], phone, tablet)
    }

    /// An edit waits when the deletion is found.
    func testAnEditThatWaitsIsSent() async throws {
        let (phone, _, tablet, late) = try await begin()
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        late.release()
        try await phone.engine.upload(Note("a", "edited"))
        try await assertModels([Note("a", "edited")], phone, tablet)
    }

    /// Found by a listing of everything, which has no deletions.
    func testADeletionIsFoundByAListing() async throws {
        let (phone, _, tablet, late) = try await begin()
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        late.release()
        try cloud.expireTokens(in: ZoneID(zoneName: "Item"), user: "alice")
        try await assertModels([Note("a", "again")], phone, tablet)
    }

    /// A late creation follows the late deletion, so that the feed has the creation only.
    func testALateCreationBehindALateDeletionReplacesNoUpload() async throws {
        for isEdited in [false, true] {
            let (phone, network) = makePhone()
            let (tablet, _) = makePhone()
            let creation = try await uploadLate(Note("a", "first"), phone, network)
            try await phone.engine.upload(Note("a", "text"))
            try await assertModels([Note("a", "text")], phone, tablet)
            let deletion = try await deleteLate("a", phone, network)
            try await phone.engine.upload(Note("a", "again"))
            try await assertModels([Note("a", "again")], phone, tablet)
            if isEdited { try await phone.engine.upload(Note("a", "edited")) }
            deletion.release()
            creation.release()
            try await assertModels([Note("a", isEdited ? "edited" : "again")], phone, tablet)
            try await phone.engine.delete(named: ["a"])
            try await assertModels([], phone, tablet)
            pass(.seconds(600))
        }
    }

    // MARK: Deletions that are not late

    /// After ten minutes, the network has no such request any more: the deletion is that of another device.
    func testADeletionByAnotherDeviceLaterIsOne() async throws {
        let (phone, _, tablet, _) = try await begin()
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        pass(.seconds(600))
        try await tablet.engine.delete(named: ["a"])
        try await assertModels([], tablet, phone)
        // The note is gone with the next request.
        try await phone.engine.upload(Note("b", "text"))
        try await phone.engine.sync()
        let state = await phone.engine.core.machine?.state
        XCTAssertEqual(state?.lateQueue.count, 0)
    }

    /// The only request was answered, so nothing is on its way.
    func testADeletionByAnotherDeviceBehindAnAnsweredOneIsOne() async throws {
        let (phone, _) = makePhone()
        let (tablet, _) = makePhone()
        try await phone.engine.upload(Note("a", "text"))
        try await phone.engine.sync()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        try await tablet.engine.delete(named: ["a"])
        try await assertModels([], tablet, phone)
    }

    /// The user deletes the record once more while a deletion is on its way.
    func testADeletionOfThisDeviceIsOne() async throws {
        let (phone, _, tablet, late) = try await begin()
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        try await phone.engine.delete(named: ["a"])
        late.release()
        try await assertModels([], phone, tablet)
    }
}
