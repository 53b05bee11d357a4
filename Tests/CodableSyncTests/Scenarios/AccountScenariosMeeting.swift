import Foundation
import XCTest

@testable import CodableSync

/// The account changes while a call or a request is running.
class AccountScenariosMeeting: AccountScenario {
    // MARK: Calls of the former user

    // A2
    func testADiscardDuringASwitchAppliesToItsOwnUser() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try await makeDeviceOfAlice(Interrupted.self, on: files)
        try await put(Item<Interrupted>("a-1", "of alice, elsewhere"), of: "alice")
        try await phone.engine.upload(Item("a-1", "of alice, here"))
        let barrier = Barrier()
        Interrupted.interruption.withLock { $0 = { barrier.pass() } }
        defer { Interrupted.interruption.withLock { $0 = nil } }
        let run = phone.device.beginSync()
        await barrier.reached()
        let decision = files.hold(.append)
        barrier.open()
        await decision.reached()
        let engine = phone.engine
        let discard = Task { try await engine.discard(named: ["a-1"]) }
        await engine.reach("the discard waits for the disk", withinTurns: true) { !$0.turn.inputs.isEmpty }
        phone.account.signIn("bob")
        decision.release()
        try await discard.value
        _ = try await run.value
        try await phone.engine.sync()
        let bob = try await phone.shown()
        XCTAssertEqual(bob, [])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let (pending, shown) = (try await phone.pending(), try await phone.engine.model(named: "a-1"))
        XCTAssertEqual(pending, [])
        XCTAssertEqual(shown?.title, "of alice, elsewhere")
    }

    // A2
    func testAReadDuringASwitchReturnsOneUsersRecords() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try await makeDeviceOfAlice(on: files) { $0.automaticallySyncs = true }
        try await put(Note("b-1", "of bob"), of: "bob")
        let reading = files.hold(.read)
        let engine = phone.engine
        let read = Task { try await engine.models(named: ["a-1", "b-1", "a-2"]).map(\.title) }
        await reading.reached()
        let session = await engine.core.session
        phone.account.signIn("bob")
        await engine.reach("alice's files are about to be closed") { $0.session > session }
        reading.release()
        let titles = try await read.value
        XCTAssertTrue([[], ["of bob"]].contains(titles), "\(titles)")
        XCTAssertFalse(
            phone.device.events.all.contains { if case .storageFailed = $0 { true } else { false } },
            "nothing is wrong with the files"
        )
        try await quiet(phone.device)
    }

    // A2
    func testAnUploadDuringASwitchBelongsToOneUser() async throws {
        let phone = try await makeDeviceOfAlice { $0.automaticallySyncs = true }
        let engine = phone.engine
        let count = 200
        let uploads = (0..<10).map { call in
            Task {
                let models = (0..<count / 10).map { Note("\(call)-\($0)", "of \(call)") }
                for batch in [models, models] { try await engine.upload(batch) }
            }
        }
        phone.account.signIn("bob")
        for upload in uploads { try await upload.value }
        try await quiet(phone.device)
        try await quiet(phone.device)
        let bob = try await phone.shown()
        phone.account.signIn("alice")
        try await quiet(phone.device)
        try await quiet(phone.device)
        let alice = try await phone.shown()
        for call in 0..<10 {
            let counts = [alice, bob].map { $0.count { $0.hasPrefix("\(call)-") } }
            XCTAssertTrue(counts.allSatisfy { [0, count / 10].contains($0) }, "call \(call): \(counts)")
            XCTAssertTrue(counts.contains(count / 10), "call \(call): \(counts)")
        }
    }

    // A2
    func testAnElementIsNotDeliveredAfterASwitch() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try await makeDeviceOfAlice(on: files) { $0.automaticallySyncs = true }
        _ = try await phone.device.drain()
        try await put(Note("a-3", "of alice"), of: "alice")
        try await put(Note("b-1", "of bob"), of: "bob")
        try await phone.engine.sync()
        let received = Told<[String]>([])
        let changes = phone.engine.changes
        let reading = files.hold(.read)
        let loop = Task { for await change in changes { received.withLock { $0 += change.names } } }
        await reading.reached()
        let engine = phone.engine
        let session = await engine.core.session
        phone.account.signIn("bob")
        await engine.reach("alice's files are about to be closed") { $0.session > session }
        reading.release()
        await received.reach("bob's records are delivered") { $0.contains("b-1") }
        XCTAssertEqual(received.withLock { $0 }, ["b-1"])
        phone.account.signIn("alice")
        await received.reach("alice's records are delivered when she returns") {
            $0.first == "b-1" && Set($0.dropFirst()) == ["a-1", "a-2", "a-3"]
        }
        loop.cancel()
        await loop.value
    }

    // A2
    func testRetriesOfTheFormerUserEndWithTheSwitch() async throws {
        let phone = try await makeDeviceOfAlice()
        try await phone.engine.upload(Note("a-3", "of alice"))
        phone.device.database.failNext(.modify, .networkFailure)
        await assertThrows(.cloud(CloudError(.networkFailure))) { try await phone.engine.sendChanges() }
        XCTAssertNotNil(phone.engine.core.resources.nextInstant)
        phone.account.signIn("bob")
        try await phone.engine.sync()
        // The subscription request may still be running; no call waits for it, and it has its own deadline.
        try await quiet(phone.device)
        XCTAssertNil(phone.engine.core.resources.nextInstant)
    }

    // MARK: Requests of the former user

    // A2, I-40
    func testABriefSwitchDuringARequestHasNoEffect() async throws {
        for isHeldAfter in [false, true] {
            let phone = try await makeDeviceOfAlice { $0.automaticallySyncs = true }
            let gate = Gate()
            phone.device.database.plan(.modify, isHeldAfter ? .holdAfter(gate) : .holdBefore(gate))
            try await phone.engine.upload(Note("a-1", "of alice, again"))
            await gate.reached()
            phone.account.signIn("bob", signal: isHeldAfter)
            phone.account.signIn("alice")
            gate.open()
            try await quiet(phone.device)
            let record = try await phone.engine.model(named: "a-1")
            XCTAssertEqual(record?.title, "of alice, again")
            XCTAssertEqual(phone.account.told("bob").count, 0)
            XCTAssertFalse(
                phone.device.events.all.contains { if case .conflictResolved = $0 { true } else { false } },
                "the server's copy is this device's own save"
            )
            try await phone.engine.close()
            let server = phone.account.server(of: "alice")
            _ = try await server.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: "Item")])
        }
    }

    // ZA-04, I-42
    func testAPurgeAwaitsTheDecisionOfItsOwnUser() async throws {
        for isSignalled in [true, false] {
            let phone = try await makeDeviceOfAlice()
            try await phone.engine.upload(Note("a-3", "of alice"))
            phone.device.database.failNext(.modify, .userDeletedZone)
            await assertThrows(.waitingForDecision) { try await phone.engine.sendChanges() }
            phone.account.signIn("bob", signal: isSignalled)
            if !isSignalled { clock.advance(by: .seconds(301)) }
            try await phone.engine.upload(Note("x", "of whoever is known"))
            let summary = try await phone.engine.sync()
            XCTAssertEqual([summary.sent, summary.fetched, summary.pending], [0, 0, 0])
            let user = try await phone.user()
            XCTAssertEqual(user, "bob")
            try await phone.engine.upload(Note("b-1", "of bob"))
            try await phone.engine.sync()
            // Bob is not asked, and his answer has no effect.
            try await phone.engine.resolvePurge(.removeLocal)
            try await phone.engine.resync()
            let bob = try await phone.shown()
            XCTAssertEqual(bob, ["b-1"])
            phone.account.signIn("alice")
            await assertThrows(.waitingForDecision) { try await phone.engine.sync() }
            let alice = try await phone.shown()
            XCTAssertEqual(alice, ["a-1", "a-2", "a-3", "x"])
            try await phone.engine.resolvePurge(.uploadAgain)
            try await phone.engine.sync()
            let server = try await names(of: "alice", phone)
            XCTAssertEqual(server, ["a-1", "a-2", "a-3", "x"])
            try await phone.engine.close()
            for user in ["alice", "bob"] {
                let server = phone.account.server(of: user)
                _ = try await server.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: "Item")])
            }
        }
    }

    // A2
    func testAPushForTheFormerUserFetchesForTheCurrentOne() async throws {
        let phone = try await makeDeviceOfAlice()
        try await put(Note("a-3", "of alice"), of: "alice")
        phone.account.signIn("bob")
        let tokens = phone.told("alice").tokens
        let outcome = await phone.engine.handleNotification(["zone": "Item"])
        XCTAssertEqual(outcome, .noData)
        let (user, shown) = (try await phone.user(), try await phone.shown())
        XCTAssertEqual(user, "bob")
        XCTAssertEqual(shown, [])
        XCTAssertTrue(phone.told("bob").tokens.isDisjoint(with: tokens))
        XCTAssertEqual(phone.told("bob").names, [])
    }

    // MARK: Beginnings

    // ZA-09
    func testEditsBeingClaimedStayHiddenFromTheNextUser() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try makeAccountDevice(Note.self, user: nil) {
            $0.fileSystem = files
            $0.automaticallySyncs = true
        }
        let engine = phone.engine
        try await quiet(phone.device)
        try await engine.upload(Note("x", "written before anyone signed in"))
        let claiming = files.hold(.append)
        phone.account.signIn("alice")
        await claiming.reached()
        phone.account.signIn("bob")
        claiming.release()
        try await quiet(phone.device)
        XCTAssertFalse(phone.account.told("bob").flatMap(\.zonesToSave).isEmpty, "bob's zone is created")
        var shown = try await phone.shown()
        XCTAssertEqual(shown, [])
        XCTAssertEqual(phone.told("bob").names, [])
        phone.account.signIn("alice")
        try await quiet(phone.device)
        try await quiet(phone.device)
        shown = try await names(of: "alice", phone)
        XCTAssertEqual(shown, ["x"])
    }

    // ZA-11
    func testASignOutDuringTheOpeningSendsNoRequest() async throws {
        let files = HookedFileSystem()
        let phone = try await makeDeviceOfAlice(on: files)
        try await phone.engine.upload(Note("a-3", "of alice"))
        try await phone.engine.close()
        let before = phone.account.told("alice").count
        let barrier = Barrier()
        files.before { _, path in if path.contains("/users/1") { barrier.pass() } }
        try await phone.device.restart()
        let run = phone.device.beginSync()
        await barrier.reached()
        phone.account.signOut()
        barrier.open()
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await run.value }
        XCTAssertEqual(phone.account.told("alice").count, before)
        let pending = try await phone.pending()
        XCTAssertEqual(pending, ["a-3"])
        XCTAssertEqual(phone.changes.last, "alice > -")
    }

    // ZA-17, A2
    func testAnErrorOfOneAccountDoesNotBlockAnother() async throws {
        let phone = try await makeDeviceOfAlice(on: MemoryFileSystem()) { $0.automaticallySyncs = true }
        try await quiet(phone.device)
        try await put(Note("b-1", "of bob"), of: "bob")
        phone.device.database.failNext(.modify, .managedAccountRestricted)
        try await phone.engine.upload(Note("a-3", "of alice"))
        let paused = SyncStatus.paused(.configuration(CloudError(.managedAccountRestricted)))
        try await quiet(phone.device)
        let status = try await phone.engine.diagnostics().status
        XCTAssertEqual(status, paused)
        phone.account.signIn("bob")
        try await quiet(phone.device)
        phone.account.signIn("alice")
        try await quiet(phone.device)
        let sent = try await names(of: "alice", phone)
        XCTAssertTrue(sent.contains("a-3"), "\(sent)")
    }
}
