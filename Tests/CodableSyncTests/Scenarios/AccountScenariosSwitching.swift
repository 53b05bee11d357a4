import XCTest

@testable import CodableSync

/// Another user signs in while the engine is idle, during a request or a call, or while the app is not
/// running.
class AccountScenariosSwitching: AccountScenario {
    /// Alice's phone with a confirmed record.
    private func makeAlice<Policy>(
        _ policy: Policy.Type = Merging.self,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) async throws -> AccountDevice<Item<Policy>> {
        let phone = try makeAccountDevice(Item<Policy>.self, user: "alice", configure: configure)
        try await phone.engine.upload(Item("a-1", "of alice"))
        try await phone.engine.sync()
        try await phone.engine.upload(Item("a-1", "of alice, too"))
        try await phone.engine.sync()
        return phone
    }

    /// I-39: asserts that a user's server received nothing that belongs to the former user.
    private func assertNothing<Model>(
        of former: String,
        reached user: String,
        _ phone: AccountDevice<Model>,
        file: StaticString = #filePath,
        line: UInt = #line
    ) {
        let (theirs, ours) = (phone.told(former), phone.told(user))
        XCTAssertTrue(theirs.names.isDisjoint(with: ours.names), "names", file: file, line: line)
        let texts = ours.texts.filter { $0.hasPrefix("of \(former)") }
        XCTAssertEqual(texts, [], "values", file: file, line: line)
        XCTAssertTrue(theirs.tags.isDisjoint(with: ours.tags), "tags", file: file, line: line)
        XCTAssertTrue(theirs.tokens.isDisjoint(with: ours.tokens), "tokens", file: file, line: line)
        let firstPage = phone.account.told(user).first { $0.names.isEmpty && $0.zonesToSave.isEmpty }
        XCTAssertNil(firstPage?.token, "\(user) is fetched from the beginning", file: file, line: line)
    }

    // ZA-12, I-39, A2
    func testASwitchWhileIdleStartsTheNextUserFromScratch() async throws {
        let phone = try await makeAlice { $0.automaticallySyncs = true }
        try await phone.engine.upload(Note("a-2", "of alice"))
        try await quiet(phone.device)
        _ = try await phone.device.drain()
        try await put(Note("b-1", "of bob"), of: "bob")
        phone.device.events.clear()

        phone.account.signIn("bob")
        try await quiet(phone.device)
        XCTAssertEqual(phone.changes, ["alice > bob"])
        try await phone.engine.upload(Note("b-2", "of bob"))
        try await quiet(phone.device)
        let delivered = try await phone.device.drain()
        XCTAssertEqual(Set(delivered.flatMap(\.names)), ["b-1", "b-2"])
        XCTAssertFalse(delivered.contains { if case .deleted = $0 { true } else { false } })
        let (alice, bob) = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertEqual([alice, bob], [["a-1", "a-2"], ["b-1", "b-2"]])
        assertNothing(of: "alice", reached: "bob", phone)
        XCTAssertFalse(phone.account.told("bob").flatMap(\.zonesToSave).isEmpty, "bob's zone is created")
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
    }

    // ZA-12, ZA-13, I-39, I-40, A2
    func testASwitchWithRequestsInFlightMixesNoUsers() async throws {
        for operation in [ScriptedDatabase.Operation.modify, .fetch, .zones, .lookUp] {
            for isHeldAfter in [false, true] {
                try await switchInFlight(operation, isHeldAfter, "\(operation.rawValue) \(isHeldAfter)")
            }
        }
    }

    private func switchInFlight(
        _ operation: ScriptedDatabase.Operation,
        _ isHeldAfter: Bool,
        _ what: String
    ) async throws {
        let users = try makeUsers()
        let account = AccountDatabase(user: "alice", connect: users)
        let phone = AccountDevice(
            account: account,
            device: Device<Note>(account, clock: clock) { $0.automaticallySyncs = true }
        )
        if operation == .lookUp {
            phone.device.database.changeModifyAnswers { $0.withoutServerRecords }
            _ = try await account.server(of: "alice").modifyRecordZones(
                saving: [RecordZone(zoneID: ZoneID(zoneName: "Item"))],
                deleting: []
            )
        }
        let gate = Gate()
        phone.device.database.plan(operation, isHeldAfter ? .holdAfter(gate) : .holdBefore(gate))
        if operation == .lookUp {
            phone.device.database.failItem("a-1", CloudError(.serverRecordChanged))
        }
        try await phone.engine.upload(Note("a-1", "of alice"))
        await gate.reached()
        account.signIn("bob")
        try await quiet(phone.device)
        try await phone.engine.upload(Note("b-1", "of bob"))
        // The late answer to alice's request; with `holdBefore`, the request uses bob's connection by now.
        let isHarmless = isHeldAfter || operation == .zones
        if isHarmless { gate.open() } else { gate.open(throwing: CloudError(.networkFailure)) }
        try await quiet(phone.device)
        let shown = try await phone.shown()
        XCTAssertEqual(shown, ["b-1"], what)
        let bob = try await names(of: "bob", phone)
        XCTAssertEqual(bob, ["b-1"], what)
        assertNothing(of: "alice", reached: "bob", phone)

        phone.device.database.changeModifyAnswers(nil)
        account.signIn("alice")
        try await quiet(phone.device)
        try await quiet(phone.device)
        let alice = try await names(of: "alice", phone)
        XCTAssertEqual(alice, ["a-1"], what)
        let record = try await phone.engine.model(named: "a-1")
        XCTAssertEqual(record?.title, "of alice", what)
        try await phone.engine.close()
    }

    // ZA-13, I-40
    func testAReturningUsersQueueIsSentOnce() async throws {
        let phone = try await makeAlice()
        try await phone.engine.upload(Note("a-2", "of alice"))
        try await phone.engine.delete(named: ["a-1"])
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await phone.engine.upload(Note("b-1", "of bob"))
        try await phone.engine.sync()
        var pending = try await phone.pending()
        XCTAssertEqual(pending, [])

        phone.account.signIn("alice")
        let sent = phone.device.database.modifies.count
        try await phone.engine.sync()
        pending = try await phone.pending()
        XCTAssertEqual(pending, [])
        let modifies = phone.device.database.modifies.dropFirst(sent)
        XCTAssertEqual(modifies.flatMap(\.names).sorted(), ["a-1", "a-2"], "each is sent once")
        let (alice, bob) = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertEqual([alice, bob], [["a-2"], ["b-1"]])
        assertNothing(of: "alice", reached: "bob", phone)
        XCTAssertEqual(phone.changes, ["- > alice", "alice > bob", "bob > alice"])
    }

    // ZA-15, C24, A2
    func testTheStateMatchesTheUserAfterUnseenAccountChanges() async throws {
        for (last, text) in [("alice", "back"), ("bob", "switched"), ("carol", "new")] {
            let connect = try makeUsers()
            let account = AccountDatabase(user: "alice", connect: connect)
            let phone = AccountDevice(account: account, device: Device<Note>(account, clock: clock))
            try await phone.engine.upload(Note("a-1", "of alice"))
            try await phone.engine.sync()
            account.signIn("bob")
            try await phone.engine.sync()
            try await phone.engine.upload(Note("b-1", "of bob"))
            try await phone.engine.close()
            // The user changes several times while the app is not running.
            account.signOut(signal: false)
            account.signIn("dora", signal: false)
            account.signIn(last, signal: false)
            phone.device.events.clear()
            try await phone.device.restart()
            try await phone.engine.sync()
            let expected = ["alice": ["a-1"], "bob": ["b-1"], "carol": []][last]
            let shown = try await phone.shown()
            XCTAssertEqual(shown, expected, text)
            XCTAssertEqual(phone.changes, last == "bob" ? [] : ["bob > \(last)"], text)
            let bob = try await names(of: "bob", phone)
            XCTAssertEqual(bob, last == "bob" ? ["b-1"] : [], text)
            XCTAssertEqual(account.told("dora").count, 0, text)
            assertNothing(of: "bob", reached: "carol", phone)
            try await phone.engine.close()
        }
    }

    // A2
    func testASwitchDuringASyncSyncsTheNewUser() async throws {
        let phone = try await makeAlice()
        try await put(Note("b-1", "of bob"), of: "bob")
        try await phone.engine.upload(Note("a-2", "of alice"))
        let gate = Gate()
        phone.device.database.plan(.fetch, .holdAfter(gate))
        let run = phone.device.beginSync()
        await gate.reached()
        phone.account.signIn("bob")
        let summary = try await run.value
        XCTAssertEqual([summary.fetched, summary.sent, summary.pending], [1, 0, 0], "only bob's records")
        let shown = try await phone.shown()
        XCTAssertEqual(shown, ["b-1"])
        gate.open()
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let alice = try await names(of: "alice", phone)
        XCTAssertEqual(alice, ["a-1", "a-2"])
        assertNothing(of: "alice", reached: "bob", phone)
    }

    // A2
    func testASwitchDuringAResolverKeepsTheConflictForItsUser() async throws {
        let phone = try await makeAlice(Interrupted.self)
        try await put(Item<Interrupted>("a-1", "of alice, elsewhere"), of: "alice")
        try await phone.engine.upload(Item("a-1", "of alice, here", note: "here"))
        let barrier = Barrier()
        Interrupted.interruption.withLock { $0 = { barrier.pass() } }
        defer { Interrupted.interruption.withLock { $0 = nil } }
        let run = phone.device.beginSync()
        await barrier.reached()
        phone.account.signIn("bob")
        await phone.engine.reach("bob is known") { $0.machine?.userRecordName == "bob" }
        try await phone.engine.upload(Item("b-1", "of bob"))
        barrier.open()
        _ = try await run.value
        try await phone.engine.sync()
        let bob = try await names(of: "bob", phone)
        XCTAssertEqual(bob, ["b-1"])
        assertNothing(of: "alice", reached: "bob", phone)

        phone.account.signIn("alice")
        try await phone.engine.sync()
        let merged = try await phone.engine.model(named: "a-1")
        XCTAssertEqual(merged?.note, "here")
        let pending = try await phone.pending()
        XCTAssertEqual(pending, [])
    }

    // A2
    func testAnUnacceptedElementIsDeliveredAgainWhenItsUserReturns() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.automaticallySyncs = true }
        for number in 1...3 { try await put(Note("a-\(number)", "of alice"), of: "alice") }
        try await put(Note("b-1", "of bob"), of: "bob")
        let received = Told<[ModelChange<Note>]>([])
        let (steps, step) = AsyncStream.makeStream(of: Void.self)
        let changes = phone.engine.changes
        let loop = Task {
            var steps = steps.makeAsyncIterator()
            for await change in changes {
                received.withLock { $0.append(change) }
                _ = await steps.next()
            }
        }
        await received.reach("alice's records are delivered") { $0.count == 1 }
        phone.account.signIn("bob")
        try await quiet(phone.device)
        for _ in 0..<3 { step.yield() }
        await received.reach("bob's records are delivered") { $0.count == 4 }
        XCTAssertEqual(
            received.withLock { Array($0.dropFirst()) },
            [.reset, .updated([Note("b-1", "of bob")]), .replayed]
        )
        phone.account.signIn("alice")
        try await quiet(phone.device)
        // Records are delivered one at a time, as after any engine that ended while they were being handled.
        for _ in 0..<5 { step.yield() }
        await received.reach("alice's records are delivered again") {
            Set($0.dropFirst(4).flatMap(\.names)) == ["a-1", "a-2", "a-3"]
        }
        let last = received.withLock { $0.dropFirst(4).map(\.names.count) }
        XCTAssertEqual(last, [0, 0, 1, 1, 1])
        loop.cancel()
        await loop.value
    }

    // A2
    func testTwentySwitchesLeakNothing() async throws {
        let phone = try makeAccountDevice(Note.self, user: nil) { $0.automaticallySyncs = true }
        let changes = phone.engine.changes
        let taken = Told<[String]>([])
        let loop = Task { for await change in changes { taken.withLock { $0 += change.names } } }
        for round in 0..<20 {
            let user = round.isMultiple(of: 2) ? "alice" : "bob"
            phone.account.signIn(user)
            try await quiet(phone.device)
            try await phone.engine.upload(Note("\(user)-\(round)", "of \(user)"))
            try await quiet(phone.device)
            // A change that is not accepted before the switch is delivered when its user returns; the last
            // user does not.
            await taken.reach("\(round) is delivered") { $0.contains("\(user)-\(round)") }
            XCTAssertEqual(phone.account.listenerCount, 1)
        }
        let (alice, bob) = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertEqual([alice.count, bob.count], [10, 10])
        XCTAssertTrue(alice.allSatisfy { $0.hasPrefix("alice") } && bob.allSatisfy { $0.hasPrefix("bob") })
        assertNothing(of: "alice", reached: "bob", phone)
        assertNothing(of: "bob", reached: "alice", phone)
        XCTAssertEqual(phone.changes.count, 20)
        weak let engine = phone.engine.core
        try await phone.engine.close()
        await loop.value
        _ = engine
    }
}

extension ModifyRecordsResult {
    /// The result as CloudKit Web Services return it, without server records.
    fileprivate var withoutServerRecords: ModifyRecordsResult {
        var result = self
        result.saveResults = saveResults.mapValues { outcome in
            outcome.mapError { error in
                var error = error
                error.serverRecord = nil
                return error
            }
        }
        return result
    }
}

final class AccountScenariosSwitchingOnLocalDatabase: AccountScenariosSwitching {
    override func makeUsers() throws -> @Sendable (String) -> any CloudDatabase {
        try makeUsersOnLocalDatabase()
    }

    func testTheDatabaseIsADirectory() throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        XCTAssertTrue(phone.account.server(of: "alice") is LocalDatabase)
    }
}
