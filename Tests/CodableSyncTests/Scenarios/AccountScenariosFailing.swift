import Foundation
import XCTest

@testable import CodableSync

/// A switch that fails, is interrupted by a crash, or overlaps with other calls.
final class AccountScenariosFailing: AccountScenario {
    /// Alice's phone on its own disk, with one record sent.
    private func makeAlice(
        on files: any FileSystem,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) async throws -> AccountDevice<Note> {
        let phone = try makeAccountDevice(Note.self, user: "alice") {
            $0.fileSystem = files
            configure(&$0)
        }
        try await phone.engine.upload(Note("a-1", "of alice"))
        try await phone.engine.sync()
        try await put(Note("b-1", "of bob"), of: "bob")
        return phone
    }

    // CR-08, I-39: at every seventh call for each moment, a different sample for each, or at every call in an
    // exhaustive run.
    func testACrashDuringASwitchMixesNoUsersRecords() async throws {
        let first = SimulatedFileSystem()
        let phone = try await makeAlice(on: first)
        try await phone.engine.upload(Note("a-2", "of alice"))
        try await phone.engine.close()
        for (row, (moment, survivors)) in [
            (SimulatedDisk.Moment.before, SimulatedDisk.Survivors.onlySynced), (.torn, .random(seed: 5)),
            (.after, .allWrites),
        ].enumerated() {
            var last = 0
            for call in Cases.places(every: 7, row: row * 2) {
                let what = "\(moment) \(call)"
                phone.account.signIn("bob", signal: false)
                let files = first.crashed(keeping: .onlySynced)
                files.powerOff(at: call, moment)
                let device = Device<Note>(phone.account, clock: clock) { $0.fileSystem = files }
                _ = try? await device.engine.sync()
                try await device.engine.close()
                last = call
                let wasCut = files.calls.count > call

                let left = files.crashed(keeping: survivors)
                let next = AccountDevice(
                    account: phone.account,
                    device: Device<Note>(phone.account, clock: clock) { $0.fileSystem = left }
                )
                try await next.engine.sync()
                let shown = try await next.shown()
                XCTAssertEqual(shown, ["b-1"], what)
                let told = AccountDevice(account: phone.account, device: device).changes + next.changes
                XCTAssertTrue(told.contains("alice > bob"), "\(what): no account event")
                XCTAssertFalse(next.changes.dropFirst().contains("alice > bob"), "\(what): at most twice")
                phone.account.signIn("alice")
                // Alice's queue is complete.
                phone.device.database.isReachable = true
                next.device.database.failAlways(.zones, CloudError(.networkFailure))
                next.device.database.failAlways(.fetch, CloudError(.networkFailure))
                next.device.database.failAlways(.modify, CloudError(.networkFailure))
                _ = try? await next.engine.sync()
                let (user, pending) = (try await next.user(), try await next.pending())
                XCTAssertEqual(user, "alice", what)
                XCTAssertEqual(pending, ["a-2"], what)
                let alice = try await next.shown()
                XCTAssertEqual(alice, ["a-1", "a-2"], what)
                try await next.engine.close()
                if !wasCut { break }
            }
            XCTAssertGreaterThan(last, 20, "the power failed at too few calls")
        }
        let told = phone.told("bob")
        XCTAssertEqual(told.names, [])
        XCTAssertTrue(told.tokens.isDisjoint(with: phone.told("alice").tokens))
    }

    // A2
    func testAFailedSwitchIsReportedAndRetried() async throws {
        for isAutomatic in [false, true] {
            let files = HookedFileSystem()
            let phone = try await makeAlice(on: files) { $0.automaticallySyncs = isAutomatic }
            try await quiet(phone.device)
            let changes = phone.engine.changes
            let taken = Told<[String]>([])
            let loop = Task { for await change in changes { taken.withLock { $0 += change.names } } }
            await taken.reach("alice's records are delivered") { $0 == ["a-1"] }
            files.before { operation, path throws(FileError) in
                if path.contains("/users/2") { throw FileError(operation, path, code: EIO) }
            }
            phone.account.signIn("bob")
            if !isAutomatic {
                do {
                    _ = try await phone.engine.sync()
                    XCTFail("the sync should fail")
                } catch let error as SyncError where error.code == .storageFailed {}
            }
            await phone.device.events.reach("the app receives the event") { events in
                events.contains {
                    guard case .accountSwitchFailed("bob", let error) = $0 else { return false }
                    return error.code == .storageFailed
                }
            }
            for call in [
                { _ = try await phone.engine.upload(Note("b-2", "of bob")) }, { _ = try await phone.shown() },
                { _ = try await phone.engine.sync() },
            ] as [() async throws -> Void] {
                do {
                    try await call()
                    XCTFail("bob's state could not be opened")
                } catch let error as SyncError where error.code == .storageFailed {}
            }
            XCTAssertEqual(phone.account.told("bob").count, 0)

            // Alice signs in again, and her records are unchanged.
            phone.account.signIn("alice")
            try await quiet(phone.device)
            let alices = try await phone.shown()
            XCTAssertEqual(alices, ["a-1"])
            files.before(nil)
            phone.account.signIn("bob")
            try await phone.engine.sync()
            try await phone.engine.upload(Note("b-2", "of bob"))
            try await phone.engine.sync()
            try await quiet(phone.device)
            await taken.reach("bob's records are delivered") { Set($0) == ["a-1", "b-1", "b-2"] }
            let bob = try await names(of: "bob", phone)
            XCTAssertEqual(bob, ["b-1", "b-2"])
            let alice = try await names(of: "alice", phone)
            XCTAssertEqual(alice, ["a-1"])
            try await phone.engine.close()
            await loop.value
            try await clear("bob")
        }
    }

    private func clear(_ user: String) async throws {
        let server = try XCTUnwrap(connect)(user)
        _ = try await server.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: "Item")])
    }

    // A2
    func testStatusShowsWhyTheStateCannotBeOpenedAndATimerRetries() async throws {
        let files = HookedFileSystem()
        let phone = try await makeAlice(on: files) { $0.automaticallySyncs = true }
        try await quiet(phone.device)
        // A stream that does not wake the engine, which would cause another attempt.
        var statuses = phone.engine.core.statusHub.stream {}.makeAsyncIterator()
        files.before { operation, path throws(FileError) in
            if path.contains("/users/2") { throw FileError(operation, path, code: EIO) }
        }
        phone.account.signIn("bob")
        while let status = await statuses.next() {
            if case .paused(.state(let error)) = status, error.code == .storageFailed { break }
        }
        files.before(nil)
        clock.advance(by: .seconds(300))
        try await quiet(phone.device)
        try await quiet(phone.device)
    }

    // A2, I-47
    func testAStateOfANewerVersionIsNotTouchedAndBlocksNoKnownUser() async throws {
        let files = SimulatedFileSystem()
        let phone = try await makeAlice(on: files)
        let (log, _) = try JSONLog.open(
            directory: "/device/users/2",
            fileSystem: files,
            format: "codablesync-state",
            version: JSONStateStore.version + 1
        ) { _, _ in }
        log.close()
        let before = files.names(in: "/device/users/2").map { files.bytes(at: "/device/users/2/\($0)") }
        phone.account.signIn("bob")
        do {
            _ = try await phone.engine.sync()
            XCTFail("a newer state was opened")
        } catch let error as SyncError where error.code == .stateTooNew {}
        XCTAssertEqual(
            files.names(in: "/device/users/2").map { files.bytes(at: "/device/users/2/\($0)") },
            before
        )
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let shown = try await phone.shown()
        XCTAssertEqual(shown, ["a-1"])
        // It cannot be read whether bob was the last user.
        try await phone.device.restart()
        do {
            _ = try await phone.engine.sync()
            XCTFail("a state was guessed")
        } catch let error as SyncError where error.code == .stateTooNew {}
    }

    // MARK: In the middle of a switch

    /// Starts a switch to bob, and holds it before his state is created.
    private func holdSwitch(
        _ configure: (inout SyncConfiguration) -> Void = { _ in }
    ) async throws -> (phone: AccountDevice<Note>, barrier: Barrier, run: Task<SyncSummary, any Error>) {
        let files = HookedFileSystem()
        let phone = try await makeAlice(on: files, configure: configure)
        let barrier = Barrier()
        files.before { _, path in if path.contains("/users/2") { barrier.pass() } }
        phone.account.signIn("bob")
        let run = phone.device.beginSync()
        await barrier.reached()
        return (phone, barrier, run)
    }

    func testAnUploadDuringASwitchBelongsToTheNewUser() async throws {
        let (phone, barrier, run) = try await holdSwitch()
        let engine = phone.engine
        let upload = Task { try await engine.upload(Note("b-2", "of bob")) }
        let reading = Task { try await engine.allModels().map(\.id) }
        for _ in 0..<50 { await Task.yield() }
        barrier.open()
        try await upload.value
        _ = try await run.value
        let read = try await reading.value
        XCTAssertFalse(read.contains("a-1"))
        try await phone.engine.sync()
        let (alice, bob) = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertEqual([alice, bob], [["a-1"], ["b-1", "b-2"]])
    }

    func testAnUploadBeforeASwitchBelongsToTheFormerUser() async throws {
        let files = HookedFileSystem()
        let phone = try await makeAlice(on: files)
        let gate = Gate()
        // Planned twice: the signal may arrive during the first account check, which then starts over.
        for _ in 0..<2 { phone.device.database.plan(.account, .holdAfter(gate)) }
        phone.account.signIn("bob")
        let run = phone.device.beginSync()
        await gate.reached()
        // The engine does not know about bob yet: edits belong to the last known user.
        try await phone.engine.upload(Note("a-2", "of alice"))
        gate.open()
        _ = try await run.value
        let shown = try await phone.shown()
        XCTAssertEqual(shown, ["b-1"])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let (alice, bob) = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertEqual([alice, bob], [["a-1", "a-2"], ["b-1"]])
    }

    func testClosingDuringASwitchEndsItAndFreesTheDirectory() async throws {
        let (phone, barrier, run) = try await holdSwitch()
        let engine = phone.engine
        let reading = Task { try await engine.allModels() }
        let closing = Task { try await engine.close() }
        for _ in 0..<50 { await Task.yield() }
        barrier.open()
        try await closing.value
        await assertThrows(.closed) { try await run.value }
        await assertThrows(.closed) { try await reading.value }
        try await phone.device.restart()
        try await phone.engine.sync()
        let shown = try await phone.shown()
        XCTAssertEqual(shown, ["b-1"])
    }

    func testStoppingDuringASwitchStopsTheNewUsersSyncToo() async throws {
        let (phone, barrier, run) = try await holdSwitch { $0.automaticallySyncs = true }
        await phone.engine.stop()
        // The stop may come before the switch or during it, while it waits for the new state.
        barrier.open()
        await assertThrows(.stopped) { try await run.value }
        try await phone.engine.upload(Note("b-2", "of bob"))
        await assertThrows(.stopped) { try await phone.engine.sync() }
        XCTAssertEqual(phone.account.told("bob").count, 0)
        try await phone.engine.start()
        try await quiet(phone.device)
        let bob = try await names(of: "bob", phone)
        XCTAssertEqual(bob, ["b-1", "b-2"])
    }

    func testCancelingASyncDoesNotEndTheSwitch() async throws {
        let (phone, barrier, run) = try await holdSwitch()
        run.cancel()
        do {
            _ = try await run.value
            XCTFail("a cancelled call returned")
        } catch {
            XCTAssertTrue(error is CancellationError, "\(error)")
        }
        barrier.open()
        let shown = try await phone.shown()
        XCTAssertEqual(shown, [])
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
    }

    func testReleasingAnEngineDuringASwitchFreesTheDirectory() async throws {
        let files = HookedFileSystem()
        let account = AccountDatabase(user: "alice", connect: try XCTUnwrap(connect))
        var device: Device<Note>? = Device(account, clock: clock) {
            $0.fileSystem = files
            $0.automaticallySyncs = true
        }
        let configuration = try XCTUnwrap(device).configuration
        try await device?.engine.upload(Note("a-1", "of alice"))
        await device?.engine.reach("alice is known") { $0.machine?.userRecordName == "alice" }
        let barrier = Barrier()
        files.before { _, path in if path.contains("/users/2") { barrier.pass() } }
        account.signIn("bob")
        await barrier.reached()
        weak let engine = device?.engine.core
        let end = device?.engine.watchEnd()
        device = nil
        barrier.open()
        await end?.value
        XCTAssertNil(engine)
        let next = SyncEngine<Note>(database: account, configuration: configuration)
        let user = try await whenFree { try await next.diagnostics() }.userRecordName
        XCTAssertEqual(user, "bob")
        try await next.close()
    }
}
