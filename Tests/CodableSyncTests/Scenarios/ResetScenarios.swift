import XCTest

@testable import CodableSync

/// Another user's records begin with `.reset`, whatever happens in between.
class ResetScenarios: AccountScenario {
    /// Alice's phone, whose app has accepted her records, and a record of bob's.
    private func makeFollowed(
        on files: any FileSystem = MemoryFileSystem()
    ) async throws -> (phone: AccountDevice<Note>, app: StreamFold<Note>) {
        let phone = try await makeDeviceOfAlice(on: files)
        let app = StreamFold(\.changes, of: phone.engine)
        await app.rest()
        XCTAssertEqual(app.models.keys.sorted(), ["a-1", "a-2"])
        try await put(Note("b-1", "of bob"), of: "bob")
        return (phone, app)
    }

    func testASwitchIsAResetBeforeTheFirstChange() async throws {
        let (phone, app) = try await makeFollowed()
        let before = app.elements.count
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await app.assertShowsWhatReadsShow()
        XCTAssertEqual(
            Array(app.elements[before...]),
            [.reset, .replayed, .updated([Note("b-1", "of bob")])]
        )
        phone.account.signIn("alice")
        try await phone.engine.sync()
        try await app.assertShowsWhatReadsShow()
        XCTAssertEqual(app.models.keys.sorted(), ["a-1", "a-2"])
        await app.end()
    }

    /// The app reads no events, and so many of them arrive that the switch itself is dropped.
    func testASwitchIsAResetWithAFullEventLog() async throws {
        let (phone, app) = try await makeFollowed()
        var events = phone.engine.events.makeAsyncIterator()
        phone.account.signIn("bob")
        try await phone.engine.sync()
        for _ in 0..<1100 { phone.engine.core.emit(.storageFailed("full")) }
        try await app.assertShowsWhatReadsShow()
        XCTAssertEqual(app.models.keys.sorted(), ["b-1"])
        guard case .dropped? = await events.next() else { return XCTFail("no event was dropped") }
        await app.end()
    }

    /// The loop is still at one of alice's records when bob signs in, and stays there for long.
    func testASlowLoopGetsTheResetNext() async throws {
        let (phone, app) = try await makeFollowed()
        await app.end()
        try await put(Note("a-3", "of alice"), of: "alice")
        var changes = phone.engine.changes.makeAsyncIterator()
        try await phone.engine.sync()
        let held = await changes.next()
        XCTAssertEqual(held, .updated([Note("a-3", "of alice")]))
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await phone.engine.upload(Note("b-2", "of bob"))
        try await phone.engine.sync()
        let next = await changes.next()
        XCTAssertEqual(next, .reset)
        var models: [String: Note] = [:]
        while let change = await changes.next(), change != .replayed { models.apply(change) }
        XCTAssertTrue(Set(models.keys).isSubset(of: ["b-1", "b-2"]), "\(models)")
    }

    func testAResetThatWasNotAcceptedComesAgainAfterACrash() async throws {
        let (phone, app) = try await makeFollowed()
        await app.end()
        phone.account.signIn("bob")
        try await phone.engine.sync()
        for await change in phone.engine.changes {
            XCTAssertEqual(change, .reset)
            break
        }
        try await phone.device.die()
        let next = StreamFold(\.changes, of: phone.engine, from: app.models)
        try await phone.engine.sync()
        try await next.assertShowsWhatReadsShow()
        XCTAssertEqual(next.elements.first, .reset)
        XCTAssertEqual(next.models.keys.sorted(), ["b-1"])
        await next.end()
    }

    /// The power fails at any call of the switch; the app's database has what it accepted.
    func testNoCrashDuringASwitchMixesUsers() async throws {
        for call in Cases.places(every: 3) {
            let disk = SimulatedFileSystem()
            let (phone, app) = try await makeFollowed(on: disk)
            disk.powerOff(after: call, SimulatedDisk.Moment.allCases[call % 3])
            phone.account.signIn("bob")
            let isOver = await phone.device.beginSync().result
            await app.end()
            let isEnded = !disk.isOff
            try await phone.device.crash()
            let next = StreamFold(\.changes, of: phone.engine, from: app.models)
            try await phone.engine.sync()
            try await next.assertShowsWhatReadsShow("power off at call \(call)")
            XCTAssertEqual(next.models.keys.sorted(), ["b-1"], "power off at call \(call)")
            await next.end()
            if case .success = isOver, isEnded {
                XCTAssertGreaterThan(call, 10, "a switch makes more than ten calls")
                return
            }
        }
        XCTFail("no switch ever finished")
    }

    func testAnAppThatNeverFollowedGetsNoReset() async throws {
        let phone = try await makeDeviceOfAlice()
        try await put(Note("b-1", "of bob"), of: "bob")
        phone.account.signIn("bob")
        try await phone.engine.sync()
        let app = StreamFold(\.changes, of: phone.engine)
        try await app.assertShowsWhatReadsShow()
        XCTAssertEqual(app.elements, [.updated([Note("b-1", "of bob")])])
        await app.end()
    }

    func testALiveLoopBeginsAgainAtASwitch() async throws {
        let phone = try await makeDeviceOfAlice()
        try await put(Note("b-1", "of bob"), of: "bob")
        let app = StreamFold(\.liveChanges, of: phone.engine)
        try await app.assertShowsWhatReadsShow()
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await app.assertShowsWhatReadsShow()
        XCTAssertEqual(app.models.keys.sorted(), ["b-1"])
        await app.end()
    }

    func testRemovedRecordsAreAReset() async throws {
        let phone = try await makeDeviceOfAlice { $0.onSignOut = .remove }
        let app = StreamFold(\.changes, of: phone.engine)
        await app.rest()
        phone.database.isReachable = false
        try await phone.engine.upload(Note("a-1", "edited"))
        phone.database.isReachable = true
        phone.account.signOut()
        _ = await phone.device.beginSync().result
        try await app.assertShowsWhatReadsShow()
        XCTAssertEqual(app.models, ["a-1": Note("a-1", "edited")])
        await app.end()
    }

    /// What was lost with a damaged file is no longer shown by the app either.
    func testADamagedStateIsAReset() async throws {
        let disk = MemoryFileSystem()
        let (phone, app) = try await makeFollowed(on: disk)
        await app.end()
        try await phone.engine.close()
        try disk.damageJournals(below: "/device/users/1")
        try await phone.device.restart()
        let next = StreamFold(\.changes, of: phone.engine, from: app.models)
        await next.rest()
        XCTAssertEqual(next.elements.first, .reset)
        XCTAssertEqual(next.elements.last, .replayed)
        try await phone.engine.sync()
        try await next.assertShowsWhatReadsShow()
        XCTAssertEqual(next.models.keys.sorted(), ["a-1", "a-2"])
        await next.end()
    }
}

extension AccountDevice {
    fileprivate var database: ScriptedDatabase { device.database }
}

extension MemoryFileSystem {
    /// Overwrites a byte in the middle of each journal.
    fileprivate func damageJournals(below directory: String) throws {
        for name in try contents(ofDirectory: directory) where name.hasSuffix(".jsonl") {
            var bytes = try readFile("\(directory)/\(name)")
            guard bytes.count > 400 else { continue }
            bytes[bytes.count / 2] = UInt8(ascii: "#")
            try writeAtomically(bytes, to: "\(directory)/\(name)")
        }
    }
}
