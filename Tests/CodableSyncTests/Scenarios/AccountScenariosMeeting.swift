import Foundation
import XCTest

@testable import CodableSync

/// Another user signs in, or somebody signs out, just while something else is going on.
class AccountScenariosMeeting: AccountScenario {
    private func makeAlice<Policy>(
        _ policy: Policy.Type = Merging.self,
        on files: any FileSystem = MemoryFileSystem(),
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) async throws -> AccountDevice<Item<Policy>> {
        let phone = try makeAccountDevice(Item<Policy>.self, user: "alice") {
            $0.fileSystem = files
            configure(&$0)
        }
        try await phone.engine.upload(Item("a-1", "of alice"), Item("a-2", "of alice"))
        try await phone.engine.sync()
        try await phone.engine.fetchChanges()
        return phone
    }

    // MARK: Calls of the former user

    // A2
    func testChangeThatIsGivenUpWhileItsConflictIsStoredIsGivenUpForItsUser() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try await makeAlice(Interrupted.self, on: files)
        try await put(Item<Interrupted>("a-1", "of alice, elsewhere"), of: "alice")
        try await phone.engine.upload(Item("a-1", "of alice, here"))
        let barrier = Barrier()
        Interrupted.interruption.withLock { $0 = { barrier.pass() } }
        defer { Interrupted.interruption.withLock { $0 = nil } }
        let run = phone.device.beginSync()
        try await eventually("the resolver is asked") { barrier.isReached }
        let decision = files.hold(.append)
        barrier.open()
        await decision.reached()
        let engine = phone.engine
        let discard = Task { try await engine.discard(["a-1"]) }
        try await eventually("it waits for the decision") {
            await engine.machine?.postponedDiscards.isEmpty == false
        }
        phone.account.signIn("bob")
        try await eventually("the switch is under way") { await engine.machine?.isSwitching == true }
        decision.release()
        try await discard.value
        _ = try await run.value
        let bob = try await phone.shown()
        XCTAssertEqual(bob, [])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let (pending, shown) = (try await phone.pending(), try await phone.engine.model(named: "a-1"))
        XCTAssertEqual(pending, [])
        XCTAssertEqual(shown?.title, "of alice, elsewhere")
    }

    // A2
    func testReadThatASwitchOvertakesIsOneUsersWhole() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try await makeAlice(on: files) { $0.automaticallySyncs = true }
        try await put(Note("b-1", "of bob"), of: "bob")
        let reading = files.hold(.read)
        let engine = phone.engine
        let read = Task { try await engine.models(named: ["a-1", "b-1", "a-2"]).map(\.title) }
        await reading.reached()
        let session = await engine.session
        phone.account.signIn("bob")
        try await eventually("alice's files are about to be closed") { await engine.session > session }
        reading.release()
        let titles = try await read.value
        XCTAssertTrue([[], ["of bob"]].contains(titles), "\(titles)")
        XCTAssertFalse(
            phone.device.events.all.contains { if case .stateUnwritable = $0 { true } else { false } },
            "nothing is wrong with the files"
        )
        try await eventually("bob's are there") { try await phone.shown() == ["b-1"] }
    }

    // A2
    func testEachCallIsOneUsersWholeHoweverMuchItUploads() async throws {
        let phone = try await makeAlice { $0.automaticallySyncs = true }
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
        try await eventually("bob is known") { try await phone.user() == "bob" }
        try await eventually("bob's are sent") { try await engine.diagnostics().pendingCount == 0 }
        let bob = try await phone.shown()
        phone.account.signIn("alice")
        try await eventually("alice is known") { try await phone.user() == "alice" }
        try await eventually("alice's are sent") { try await engine.diagnostics().pendingCount == 0 }
        let alice = try await phone.shown()
        for call in 0..<10 {
            let counts = [alice, bob].map { $0.count { $0.hasPrefix("\(call)-") } }
            XCTAssertTrue(counts.allSatisfy { [0, count / 10].contains($0) }, "call \(call): \(counts)")
            XCTAssertTrue(counts.contains(count / 10), "call \(call): \(counts)")
        }
    }

    // MARK: Requests of the former user

    // A2, I-40
    func testAnotherUserInTheMiddleOfARequestChangesNothingForItsUser() async throws {
        for isHeldAfter in [false, true] {
            let phone = try await makeAlice { $0.automaticallySyncs = true }
            let gate = Gate()
            phone.device.database.plan(.modify, isHeldAfter ? .holdAfter(gate) : .holdBefore(gate))
            try await phone.engine.upload(Note("a-1", "of alice, again"))
            await gate.reached()
            phone.account.signIn("bob", signal: isHeldAfter)
            phone.account.signIn("alice")
            gate.open()
            try await eventually("it is sent") { try await phone.pending().isEmpty }
            let record = try await phone.engine.model(named: "a-1")
            XCTAssertEqual(record?.title, "of alice, again")
            XCTAssertEqual(phone.account.told("bob").count, 0)
            XCTAssertFalse(
                phone.device.events.all.contains { if case .conflictResolved = $0 { true } else { false } },
                "the cloud's copy is known for our own"
            )
            try await phone.engine.close()
            let server = phone.account.server(of: "alice")
            _ = try await server.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: "Item")])
        }
    }

    // ZA-04, I-42
    func testPurgeWaitsForTheDecisionOfItsUserOnly() async throws {
        for isSignalled in [true, false] {
            let phone = try await makeAlice()
            try await phone.engine.upload(Note("a-3", "of alice"))
            phone.device.database.failNext(.modify, .userDeletedZone)
            await assertFails(.waitingForDecision(.purged)) { try await phone.engine.sendChanges() }
            phone.account.signIn("bob", signal: isSignalled)
            if !isSignalled { clock.advance(by: .seconds(301)) }
            try await phone.engine.upload(Note("x", "of whoever is known"))
            let summary = try await phone.engine.sync()
            XCTAssertEqual([summary.sent, summary.fetched, summary.pending], [0, 0, 0])
            let user = try await phone.user()
            XCTAssertEqual(user, "bob")
            try await phone.engine.upload(Note("b-1", "of bob"))
            try await phone.engine.sync()
            // He is asked nothing, and his answer is none.
            try await phone.engine.resolvePurge(.removeLocal)
            try await phone.engine.resync()
            let bob = try await phone.shown()
            XCTAssertEqual(bob, ["b-1"])
            phone.account.signIn("alice")
            await assertFails(.waitingForDecision(.purged)) { try await phone.engine.sync() }
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
    func testPushForTheFormerUserFetchesForTheOneWhoIsHere() async throws {
        let phone = try await makeAlice()
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
    func testSecondUserGetsNothingOfEditsThatTheFirstIsJustTakingOver() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try makeAccountDevice(Note.self, user: nil) {
            $0.fileSystem = files
            $0.automaticallySyncs = true
        }
        let engine = phone.engine
        try await eventually("nobody is known") { try await engine.diagnostics().accountStatus == .noAccount }
        let writing = files.hold(.append)
        let upload = Task { try await engine.upload(Note("x", "of whoever comes first")) }
        await writing.reached()
        phone.account.signIn("alice")
        try await eventually("alice takes it over") { await engine.machine?.setup.isStoring == true }
        phone.account.signIn("bob")
        writing.release()
        try await upload.value
        try await eventually("bob is known") { try await phone.user() == "bob" }
        try await eventually("his zone is made") { !phone.account.told("bob").flatMap(\.zonesToSave).isEmpty }
        var shown = try await phone.shown()
        XCTAssertEqual(shown, [])
        XCTAssertEqual(phone.told("bob").names, [])
        phone.account.signIn("alice")
        try await eventually("alice is back") { phone.changes.last == "bob > alice" }
        try await eventually("it is sent") { try await phone.pending().isEmpty }
        shown = try await names(of: "alice", phone)
        XCTAssertEqual(shown, ["x"])
    }

    // ZA-11
    func testSignOutWhileTheStateIsOpenedSendsNothing() async throws {
        let files = HookedFileSystem()
        let phone = try await makeAlice(on: files)
        try await phone.engine.upload(Note("a-3", "of alice"))
        try await phone.engine.close()
        let before = phone.account.told("alice").count
        let barrier = Barrier()
        files.before { _, path in if path.contains("/users/1") { barrier.pass() } }
        try await phone.device.restart()
        let run = phone.device.beginSync()
        try await eventually("it is being opened") { barrier.isReached }
        phone.account.signOut()
        barrier.open()
        await assertFails(.cloud(CloudError(.notAuthenticated))) { try await run.value }
        XCTAssertEqual(phone.account.told("alice").count, before)
        let pending = try await phone.pending()
        XCTAssertEqual(pending, ["a-3"])
        XCTAssertEqual(phone.changes.last, "alice > -")
    }

    // MARK: Disks

    // A2
    func testFullDiskAtTheCommitOfASwitchLosesNoEditOfAnybody() async throws {
        let files = HookedFileSystem()
        let phone = try await makeAlice(on: files)
        files.before { operation, path throws(FileError) in
            if path.contains("/users.json") { throw FileError(operation, path, code: ENOSPC) }
        }
        phone.account.signIn("bob")
        for number in 1...3 {
            do {
                try await phone.engine.sync()
                XCTFail("there is no room for bob")
            } catch SyncError.storageFull {}
            do {
                try await phone.engine.upload(Note("b-\(number)", "of bob"))
                XCTFail("it is nobody's: not alice's, and not yet bob's")
            } catch SyncError.storageFull {}
        }
        files.before(nil)
        try await phone.engine.upload(Note("b-4", "of bob"))
        try await phone.engine.sync()
        let bob = try await names(of: "bob", phone)
        XCTAssertEqual(bob, ["b-4"])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let (shown, pending) = (try await phone.shown(), try await phone.pending())
        XCTAssertEqual([shown, pending], [["a-1", "a-2"], []])
    }

    // ZA-11, P-38
    func testSwitchWaitsUntilWhatIsToBeRemovedIsGoneFromTheFiles() async throws {
        let disk = SimulatedFileSystem()
        let files = HookedFileSystem(disk)
        let phone = try await makeAlice(on: files) { $0.onSignOut = .remove }
        let contents = {
            disk.names(in: "/device/users/1").compactMap { disk.bytes(at: "/device/users/1/\($0)") }
        }
        let holds = { contents().contains { String(decoding: $0, as: UTF8.self).contains("of alice") } }
        XCTAssertTrue(holds())
        files.before { operation, path throws(FileError) in
            guard operation == .rename, path.contains("/users/1/") else { return }
            throw FileError(operation, path, code: EIO)
        }
        phone.account.signIn("bob")
        for _ in 0..<2 {
            do {
                try await phone.engine.sync()
                XCTFail("alice's records are still there")
            } catch SyncError.stateUnreadable {}
        }
        XCTAssertEqual(phone.account.told("bob").count, 0)
        files.before(nil)
        try await phone.engine.sync()
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
        XCTAssertFalse(holds())
    }

    // C24, I-05
    func testDamagedIndexOfUsersIsToldAndEverybodyKeepsTheirOwn() async throws {
        let files = SimulatedFileSystem()
        let phone = try await makeAlice(on: files)
        clock.advance(by: .seconds(60))
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await phone.engine.upload(Note("b-1", "of bob"))
        try await phone.engine.close()
        let damaged = Array(#"{"users":[{"directory"#.utf8)
        files.place(damaged, at: "/device/users.json")
        try await phone.device.restart()
        let bob = try await phone.shown()
        XCTAssertEqual(bob, ["b-1"], "who fetched last was here last")
        let told = phone.device.events.all.compactMap {
            if case .stateRecovered(let message) = $0 { message } else { nil }
        }
        XCTAssertEqual(told.count, 1)
        XCTAssertTrue(told.first?.contains("damaged-users.json-1") == true, "\(told)")
        XCTAssertEqual(files.bytes(at: "/device/damaged-users.json-1"), damaged)
        var notes = try await phone.engine.diagnostics().notes
        XCTAssertEqual(notes.map(\.message), told)
        XCTAssertEqual(notes.map(\.kind), [.recovered])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let alice = try await phone.shown()
        XCTAssertEqual(alice, ["a-1", "a-2"])
        phone.account.signIn("bob")
        try await phone.device.restart()
        try await phone.engine.sync()
        notes = try await phone.engine.diagnostics().notes
        XCTAssertEqual(notes.count, 1, "it is said once")
    }

    // MARK: Removal

    // ZA-11
    func testParkedConflictKeepsBothSidesOverARemoval() async throws {
        let phone = try await makeAlice(Throwing.self) { $0.onSignOut = .remove }
        try await phone.engine.upload(Item("a-1", "of alice, here"))
        try await put(Item<Throwing>("a-1", "of alice, elsewhere"), of: "alice")
        try await phone.engine.sync()
        let before = try await phone.engine.parkedChanges()
        XCTAssertEqual(before.map(\.client?.title), ["of alice, here"])
        XCTAssertEqual(before.map(\.server?.title), ["of alice, elsewhere"])
        // Deleted elsewhere, and not told to the app: there is nothing of it to be removed, or to come back.
        let server = phone.account.server(of: "alice")
        _ = try await server.modifyRecords(
            saving: [],
            deleting: [RecordID(recordName: "a-2", zoneID: ZoneID(zoneName: "Item"))],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        try await phone.engine.fetchChanges()
        phone.account.signOut()
        await assertFails(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        for restarts in [false, true] {
            if restarts { try await phone.device.restart() }
            let after = try await phone.engine.parkedChanges()
            XCTAssertEqual(after.map(\.client), before.map(\.client))
            XCTAssertEqual(after.map(\.server), before.map(\.server))
        }
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let (shown, parked) = (try await phone.shown(), try await phone.engine.parkedChanges())
        XCTAssertEqual(shown, ["a-1"])
        XCTAssertEqual(parked.map(\.client?.title), ["of alice, here"])
        XCTAssertEqual(parked.map(\.server?.title), ["of alice, elsewhere"])
    }
}

final class AccountScenariosMeetingOnLocalDatabase: AccountScenariosMeeting {
    private var users: [AccountUsersOnLocalDatabase] = []

    override func makeUsers() throws -> @Sendable (String) -> any CloudDatabase {
        let users = try AccountUsersOnLocalDatabase()
        self.users.append(users)
        return users.connect(clock)
    }

    override func tearDownWithError() throws {
        for users in users { try users.directory.remove() }
    }

    // G3
    func testTwoModelsThatKeepTheirStateInOneDirectoryClash() async throws {
        let (cloud, state) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer { for directory in [cloud, state] { try? directory.remove() } }
        // A database made anew at each call, as `.local` is.
        let connect = { LocalDatabase.local(directory: cloud.url) }
        var configuration = SyncConfiguration()
        configuration.storage = .directory(state.url)
        configuration.automaticallySyncs = false
        let first = SyncEngine<ModuleA.Thing>(database: connect(), configuration: configuration)
        try await first.upload(ModuleA.Thing(id: "a"))
        let second = SyncEngine<ModuleB.Thing>(database: connect(), configuration: configuration)
        do {
            try await second.upload(ModuleB.Thing(id: "a"))
            XCTFail("both have one directory")
        } catch SyncError.configuration(let message) {
            XCTAssertTrue(message.contains("ModuleA.Thing") && message.contains("ModuleB.Thing"), message)
        }
        // Another directory is another device, which may have another version of the app.
        configuration.storage = .directory(state.url.appendingPathComponent("other"))
        let other = SyncEngine<ModuleB.Thing>(database: connect(), configuration: configuration)
        _ = try await other.allModels()
        try await other.close()
        try await first.close()
        _ = try await whenFree { try await second.allModels() }
        try await second.close()
    }
}
