import RecordCoding
import XCTest

@testable import CodableSync

/// Keeps this device's model in the first conflict, and the server's in later ones.
private enum FirstClient: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        conflict.client.title == "first" ? conflict.client : conflict.server
    }
}

/// What must not be taken for a late request, and what follows one.
final class LateRequestLimitScenarios: LateRequestScenario {
    private func connect<Model>(_ model: Model.Type) -> (Device<Model>, FakeDatabase) {
        let database = cloud.database(user: "alice")
        return (Device(database, clock: clock), database)
    }

    private func tryToSend<Model>(_ phone: Device<Model>) async throws {
        do { try await phone.engine.sendChanges() } catch let error as SyncError where error.code == .cloud {}
    }

    /// A creation that lost against another device's, was resent over it, and had its response lost.
    private func beginResent<Policy>(_ policy: Policy.Type) async throws -> (
        phone: Device<Item<Policy>>, network: FakeDatabase, tablet: Device<Item<Policy>>
    ) {
        let (phone, network) = connect(Item<Policy>.self)
        let (tablet, _) = connect(Item<Policy>.self)
        try await tablet.engine.upload(Item<Policy>("a", "theirs"))
        pass()
        network.on(.modifyRecords, .deliverLate(FakeHold()))
        try await phone.engine.upload(Item<Policy>("a", "first"))
        try await tryToSend(phone)
        pass()
        try await tablet.engine.sync()
        pass()
        network.on(.modifyRecords, .loseResponse())
        try await phone.engine.fetchChanges()
        try await tryToSend(phone)
        XCTAssertEqual(
            cloud.record(RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Item")), user: "alice")?.fields[
                "title"
            ],
            .string("first")
        )
        pass()
        return (phone, network, tablet)
    }

    func testAnOwnEditIsNotTakenForALateCreation() async throws {
        let (phone, _, _) = try await beginResent(FirstClient.self)
        try await phone.engine.upload(Item("a", "mine"))
        phone.events.clear()
        try await syncInTurn(phone)
        assertNoConflict(phone)
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models.map(\.title), ["mine"])
    }

    func testAnOwnEditThatWasDiscardedIsNotDeleted() async throws {
        let (phone, _, tablet) = try await beginResent(Merging.self)
        try await phone.engine.discard(named: ["a"])
        try await syncInTurn(phone, tablet)
        XCTAssertEqual(stored(), ["a"])
    }

    // MARK: Loops

    /// Both devices hold notes: one takes what the other uploads for its late creation, the other each deletion for a late one.
    func testTwoDevicesWithNotesComeToRest() async throws {
        let (phone, network) = makePhone()
        let (tablet, other) = makePhone()
        try await tablet.engine.upload(Note("a", "text"))
        try await tablet.engine.sync()
        _ = try await deleteLate("a", tablet, other)
        try await tablet.engine.sync()
        try await phone.engine.sync()
        pass(.seconds(5))
        _ = try await uploadLate(Note("a", "second"), phone, network)
        try await phone.engine.sync()
        pass(.seconds(5))
        try await tablet.engine.sync()
        pass(.seconds(5))
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        pass(.seconds(1))
        var counts: [Int] = []
        for _ in 0..<20 {
            network.clearRequests()
            other.clearRequests()
            try await tablet.engine.sync()
            pass(.seconds(1))
            try await phone.engine.sync()
            pass(.seconds(1))
            counts.append(network.requestCount(.modifyRecords) + other.requestCount(.modifyRecords))
        }
        XCTAssertEqual(counts.suffix(10), Array(repeating: 0, count: 10)[...], "\(counts)")
    }

    /// "A user can delete it once more", also on the other device.
    func testAUserOfAnotherDeviceCanDeleteItOnceMore() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        try await phone.engine.upload(Note("a", "text"))
        try await assertModels([Note("a", "text")], phone, tablet)
        _ = try await deleteLate("a", phone, network)
        try await phone.engine.upload(Note("a", "again"))
        try await phone.engine.sync()
        try await tablet.engine.sync()
        pass(.seconds(10))
        for _ in 0..<2 {
            try await tablet.engine.delete(named: ["a"])
            try await tablet.engine.sync()
            pass(.seconds(10))
            try await phone.engine.sync()
            pass(.seconds(10))
            try await tablet.engine.sync()
        }
        XCTAssertEqual(stored(), [])
    }

    func testBothDevicesHaveDeletedAndUploadedAgain() async throws {
        let (phone, network) = makePhone()
        let (tablet, other) = makePhone()
        try await phone.engine.upload(Note("a", "text"))
        try await assertModels([Note("a", "text")], phone, tablet)
        let first = try await deleteLate("a", phone, network)
        let second = try await deleteLate("a", tablet, other)
        try await phone.engine.upload(Note("a", "again"))
        try await phone.engine.sync()
        try await tablet.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        first.release()
        try await assertModels([Note("a", "again")], phone, tablet)
        second.release()
        try await assertModels([Note("a", "again")], tablet, phone)
    }

    // MARK: Requests that have an answer

    private func deleteElsewhereAfter(_ effect: FakeEffect, line: UInt = #line) async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        try await phone.engine.upload(Note("a", "text"))
        try await assertModels([Note("a", "text")], phone, tablet)
        network.on(.modifyRecords, effect)
        try await phone.engine.delete(named: ["a"])
        try await tryToSend(phone)
        pass(.seconds(90))
        try await phone.engine.upload(Note("a", "again"))
        try await phone.engine.sync()
        try await tablet.engine.sync()
        try await tablet.engine.delete(named: ["a"])
        try await assertModels([], tablet, phone, line: line)
    }

    func testADeletionThatTheServerRefusedIsNotOnItsWay() async throws {
        try await deleteElsewhereAfter(.failItem("a", CloudError(.permissionFailure)))
    }

    func testADeletionThatHasNotLeftIsNotOnItsWay() async throws {
        try await deleteElsewhereAfter(.fail(CloudError(.networkUnavailable)))
    }

    // MARK: The repeated upload

    /// Its own creation is given up, and arrives behind a deletion of the user.
    func testALateRepeatedUploadUndoesNoDeletion() async throws {
        for isEdited in [false, true] {
            let (phone, network) = makePhone()
            let (tablet, _) = makePhone()
            try await phone.engine.upload(Note("a", "text"))
            try await assertModels([Note("a", "text")], phone, tablet)
            let late = try await deleteLate("a", phone, network)
            try await phone.engine.upload(Note("a", "again"))
            pass(.seconds(5))
            try await phone.engine.sync()
            pass(.seconds(5))
            if isEdited { try await phone.engine.upload(Note("a", "edited")) }
            late.release()
            try await phone.engine.fetchChanges()
            pass(.seconds(5))
            let hold = FakeHold()
            network.on(.modifyRecords, .deliverLate(hold))
            try await tryToSend(phone)
            pass(.seconds(60))
            try await phone.engine.delete(named: ["a"])
            try await phone.engine.sync()
            pass(.seconds(5))
            hold.release()
            try await assertModels([], phone, tablet)
            pass(.seconds(900))
        }
    }

    /// The model that the app holds has the tag of the version that a late deletion has removed.
    func testAModelWithATagIsEditedWithoutAConflict() async throws {
        for isSent in [false, true] {
            let (phone, network) = connect(Tagged.self)
            try await phone.engine.upload(Tagged(id: "A", title: "text"))
            try await phone.engine.sync()
            pass()
            let hold = FakeHold()
            network.on(.modifyRecords, .deliverLate(hold))
            try await phone.engine.delete(named: ["A"])
            try await tryToSend(phone)
            pass()
            try await phone.engine.upload(Tagged(id: "A", title: "again"))
            try await phone.engine.sync()
            let read = try await phone.engine.model(named: "A")
            var model = try XCTUnwrap(read)
            pass(.seconds(10))
            hold.release()
            try await phone.engine.fetchChanges()
            if isSent { try await phone.engine.sync() }
            pass(.seconds(10))
            Tagged.asked.withLock { $0 = [] }
            model.title = "edited"
            try await phone.engine.upload(model)
            try await phone.engine.sync()
            try await phone.engine.sync()
            XCTAssertEqual(Tagged.asked.withLock { $0.count }, 0, "\(isSent)")
            let shown = try await phone.engine.model(named: "A")
            XCTAssertEqual(shown?.title, "edited")
            pass(.seconds(900))
            try await phone.engine.delete(named: ["A"])
            try await phone.engine.sync()
        }
    }

    /// The device sees the late deletion first, and the late creation afterwards.
    func testALateCreationBehindAFetchedLateDeletionReplacesNothing() async throws {
        for isEdited in [false, true] {
            let (phone, network) = makePhone()
            let (tablet, _) = makePhone()
            let creation = try await uploadLate(Note("a", "first"), phone, network)
            try await phone.engine.upload(Note("a", "text"))
            try await assertModels([Note("a", "text")], phone, tablet)
            let deletion = try await deleteLate("a", phone, network)
            try await phone.engine.upload(Note("a", "again"))
            try await assertModels([Note("a", "again")], phone, tablet)
            phone.events.clear()
            if isEdited { try await phone.engine.upload(Note("a", "edited")) }
            deletion.release()
            try await phone.engine.fetchChanges()
            creation.release()
            pass(.seconds(5))
            try await assertModels([Note("a", isEdited ? "edited" : "again")], phone, tablet)
            assertNoConflict(phone)
            try await phone.engine.delete(named: ["a"])
            try await assertModels([], phone, tablet)
            pass(.seconds(900))
        }
    }

    /// A parked edit of the record stays parked, and what others have seen comes back.
    func testAParkedEditStays() async throws {
        let (phone, network) = makePhone()
        let (tablet, _) = makePhone()
        try await phone.engine.upload(Note("a", "text"))
        try await assertModels([Note("a", "text")], phone, tablet)
        let late = try await deleteLate("a", phone, network)
        try await phone.engine.upload(Note("a", "again"))
        try await assertModels([Note("a", "again")], phone, tablet)
        network.on(.modifyRecords, .failItem("a", CloudError(.invalidArguments)))
        try await phone.engine.upload(Note("a", "parked"))
        try await tryToSend(phone)
        late.release()
        try await syncInTurn(phone, tablet)
        XCTAssertEqual(stored(), ["a"])
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, [Note("a", "again")])
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.client), [Note("a", "parked")])
    }

    func testManyDeletionsThatWereGivenUp() async throws {
        let (phone, network) = makePhone()
        let notes = (0..<150).map { Note("\($0 + 1000)", "text") }
        try await phone.engine.upload(notes)
        try await phone.engine.sync()
        pass()
        let hold = FakeHold()
        network.on(.modifyRecords, .deliverLate(hold))
        try await phone.engine.delete(named: notes.map(\.id))
        try await tryToSend(phone)
        pass()
        let again = notes.map { Note($0.id, "again") }
        try await phone.engine.upload(again)
        try await assertModels(again, phone)
        hold.release()
        try await assertModels(again, phone)
        pass(.seconds(900))
        try await phone.engine.upload(Note("b", "text"))
        try await phone.engine.sync()
        let state = await phone.engine.core.machine?.state
        XCTAssertEqual(state?.lateQueue.count, 0)
    }

    /// Creations stay noted; deletions behind them end nevertheless.
    func testExpiredDeletionsBehindCreationsAreForgotten() async throws {
        let (phone, network) = makePhone()
        _ = try await uploadLate(Note("a", "first"), phone, network)
        try await phone.engine.upload(Note("b", "text"))
        try await phone.engine.sync()
        _ = try await deleteLate("b", phone, network)
        try await phone.engine.sync()
        pass(.seconds(900))
        try await phone.engine.upload(Note("c", "text"))
        try await phone.engine.sync()
        let state = await phone.engine.core.machine?.state
        XCTAssertEqual(state?.lateQueue.keys.map(\.recordName), ["a"])
    }
}
