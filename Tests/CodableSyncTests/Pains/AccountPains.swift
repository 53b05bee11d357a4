import XCTest

@testable import CodableSync

/// One user's data never reaches another, and signing out loses nothing.
///
/// Uses the accounts of ``FakeDatabase`` itself, as an app's own tests would.
final class AccountPains: EngineScenario {
    private let zoneID = ZoneID(zoneName: "Item")

    private func makePhone(
        _ cloud: FakeCloud,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) -> (account: FakeDatabase, device: Device<Note>) {
        let account = cloud.database(user: "alice")
        return (account, Device(account, clock: clock, configure: configure))
    }

    private func names(_ cloud: FakeCloud, _ user: String) -> [String] {
        cloud.records(user: user, in: zoneID).keys.sorted()
    }

    /// The change tokens in a new user's requests, which that user's database cannot have issued.
    ///
    /// Of the requests for database changes, only the first is included; later ones use the tokens it
    /// returned.
    private func foreignTokens(_ told: [FakeRequest]) -> [ChangeToken] {
        let readings = told.filter { $0.operation == .databaseChanges }
        let others = told.filter { $0.operation != .databaseChanges }
        return (readings.prefix(1) + others).compactMap(\.changeToken)
    }

    // P-37
    func testAnotherUsersAccountGetsNothing() async throws {
        for isRunning in [true, false] {
            for isSignalled in [true, false] {
                let what = "running \(isRunning), signalled \(isSignalled)"
                let cloud = FakeCloud()
                let (account, phone) = makePhone(cloud)
                try await phone.engine.upload(Note("a-1"))
                try await phone.engine.sync()
                try await phone.engine.upload([Note("a-1", "edited"), Note("a-2")])
                account.signalsAccountChanges = isSignalled
                if !isRunning { try await phone.engine.close() }
                if isRunning, !isSignalled { clock.advance(by: .seconds(600)) }
                account.clearRequests()
                account.signIn(user: "bob")
                if !isRunning { try await phone.restart() }
                try await phone.engine.sync()
                let shown = try await phone.engine.allModels()
                XCTAssertEqual(shown, [], what)
                XCTAssertEqual(names(cloud, "bob"), [], what)
                let told = account.requests.filter { $0.user == "bob" }
                XCTAssertEqual(told.flatMap(\.recordNames), [], what)
                XCTAssertEqual(foreignTokens(told), [], what)

                account.signIn(user: "alice")
                if !isSignalled { clock.advance(by: .seconds(600)) }
                try await phone.engine.sync()
                XCTAssertEqual(names(cloud, "alice"), ["a-1", "a-2"], what)
                XCTAssertEqual(names(cloud, "bob"), [], what)
                let pending = try await phone.pendingNames()
                XCTAssertEqual(pending, [], what)
                try await phone.engine.close()
            }
        }
    }

    // P-37
    func testAnUploadRightAfterASwitchReachesNobodyElse() async throws {
        let cloud = FakeCloud()
        let (account, phone) = makePhone(cloud) { $0.automaticallySyncs = true }
        try await phone.engine.upload(Note("a-1"))
        try await quiet(phone)
        let lookUp = FakeHold()
        account.on(.accountStatus, .hold(lookUp))
        account.signIn(user: "bob")
        await lookUp.arrived()
        // The engine doesn't know about bob yet, so the edit belongs to the last known user.
        try await phone.engine.upload(Note("last"))
        lookUp.release()
        try await quiet(phone)
        let user = try await phone.engine.diagnostics().userRecordName
        XCTAssertEqual(user, "bob")
        XCTAssertTrue(account.requests.contains { $0.user == "bob" }, "bob's zone is created")
        XCTAssertEqual(names(cloud, "bob"), [])
        XCTAssertFalse(account.requests.contains { $0.user == "bob" && $0.recordNames.contains("last") })
    }

    // P-37
    func testEditsReachNobodyElseEvenWithoutASignal() async throws {
        for call in [
            { try await $0.sendChanges() }, { try await $0.sync() }, { try await $0.fetchChanges() },
        ]
            as [@Sendable (SyncEngine<Note>) async throws -> SyncSummary]
        {
            let cloud = FakeCloud()
            let (account, phone) = makePhone(cloud)
            try await phone.engine.upload(Note("a-1"))
            try await phone.engine.sync()
            try await phone.engine.upload([Note("a-1", "edited"), Note("a-2")])
            account.signalsAccountChanges = false
            account.clearRequests()
            account.signIn(user: "bob")
            let summary = try await call(phone.engine)
            XCTAssertEqual([summary.sent, summary.fetched, summary.pending], [0, 0, 0])
            let user = try await phone.engine.diagnostics().userRecordName
            XCTAssertEqual(user, "bob")
            XCTAssertEqual(names(cloud, "bob"), [])
            let told = account.requests.filter { $0.user == "bob" }
            XCTAssertEqual(told.flatMap(\.recordNames), [])
            XCTAssertEqual(foreignTokens(told), [])
            account.signIn(user: "alice")
            try await phone.engine.sync()
            XCTAssertEqual(names(cloud, "alice"), ["a-1", "a-2"])
        }
    }

    // P-37
    func testNoLaterRequestOfACallReachesTheNextUser() async throws {
        for pageSize in [1, 100] {
            let cloud = FakeCloud()
            let (account, phone) = makePhone(cloud) { $0.fetchPageSize = pageSize }
            let tablet = Device<Note>(cloud.database(user: "alice"), clock: clock)
            try await phone.engine.sync()
            try await tablet.engine.upload([Note("a-1"), Note("a-2"), Note("a-3")])
            try await tablet.engine.sync()
            try await phone.engine.upload(Note("a-4"))
            account.signalsAccountChanges = false
            account.clearRequests()
            let gate = Gate()
            phone.database.plan(.fetch, .holdAfter(gate))
            let run = phone.beginSync()
            await gate.reached()
            account.signIn(user: "bob")
            gate.open()
            _ = try await run.value
            let told = account.requests.filter { $0.user == "bob" }
            XCTAssertEqual(told.flatMap(\.recordNames), [], "\(pageSize)")
            XCTAssertEqual(told.first { $0.operation == .recordZoneChanges }?.changeToken, nil)
            XCTAssertEqual(foreignTokens(told), [], "\(pageSize)")
            XCTAssertEqual(names(cloud, "bob"), [])
            account.signIn(user: "alice")
            try await phone.engine.sync()
            XCTAssertEqual(names(cloud, "alice"), ["a-1", "a-2", "a-3", "a-4"])
            try await tablet.engine.close()
        }
    }

    // P-37
    func testReplacingAZoneDoesNotTouchTheNextUsersZone() async throws {
        let cloud = FakeCloud()
        let (account, phone) = makePhone(cloud)
        let tablet = Device<Note>(cloud.database(user: "bob"), clock: clock)
        try await tablet.engine.upload(Note("b-1"))
        try await tablet.engine.sync()
        try await phone.engine.upload(Note("a-1"))
        try await phone.engine.sync()
        try cloud.resetEncryptedData(in: zoneID, user: "alice")
        let gate = Gate()
        // Alice's zone has been looked up and is about to be replaced.
        phone.database.plan(.zones, .holdAfter(gate))
        let run = phone.beginSync()
        await gate.reached()
        account.signIn(user: "bob")
        gate.open()
        _ = try await run.value
        XCTAssertEqual(names(cloud, "bob"), ["b-1"])
        account.signIn(user: "alice")
        try await phone.engine.sync()
        XCTAssertEqual(names(cloud, "alice"), ["a-1"])
    }

    // P-37
    func testNoStepOfAZoneReplacementReachesTheNextUser() async throws {
        for step in 1...3 {
            let cloud = FakeCloud()
            let (account, phone) = makePhone(cloud)
            try await phone.engine.upload(Note("a-1"))
            try await phone.engine.sync()
            try cloud.resetEncryptedData(in: zoneID, user: "alice")
            account.signalsAccountChanges = false
            // The steps: alice's zone is looked up, deleted and re-created.
            let gates = (0..<step).map { _ in Gate() }
            for gate in gates { phone.database.plan(.zones, .holdAfter(gate)) }
            let run = phone.beginSync()
            for gate in gates.dropLast() {
                await gate.reached()
                gate.open()
            }
            await gates[step - 1].reached()
            account.clearRequests()
            account.signIn(user: "bob")
            gates[step - 1].open()
            _ = try await run.value
            let first = account.requests.first { $0.user == "bob" }
            XCTAssertEqual(first?.operation, .accountStatus, "after step \(step)")
            try await phone.engine.close()
        }
    }

    // P-37
    func testAPreviousUsersPendingDecisionDoesNotBlockTheNextUser() async throws {
        let cloud = FakeCloud()
        let (account, phone) = makePhone(cloud)
        try await phone.engine.upload(Note("a-1"))
        try await phone.engine.sync()
        phone.database.failNext(.fetch, .userDeletedZone)
        for _ in 0..<2 {
            do {
                try await phone.engine.sync()
                XCTFail("the sync ignored the purge")
            } catch let error as SyncError where error.code == .waitingForDecision {}
        }
        account.signalsAccountChanges = false
        account.signIn(user: "bob")
        try await phone.engine.sync()
        let user = try await phone.engine.diagnostics().userRecordName
        XCTAssertEqual(user, "bob")
    }

    // P-38
    func testSignOutAloneRemovesNothing() async throws {
        let cloud = FakeCloud()
        let (account, phone) = makePhone(cloud)
        try await phone.engine.upload([Note("a"), Note("b")])
        try await phone.engine.sync()
        try await phone.engine.upload([Note("b", "edited"), Note("c")])
        account.signOut()
        do {
            try await phone.engine.sync()
            XCTFail("the sync succeeded without a user")
        } catch {
            XCTAssertEqual(error as? SyncError, .cloud(CloudError(.notAuthenticated)))
        }
        try await phone.restart()
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("a"), Note("b", "edited"), Note("c")])
        account.signIn(user: "bob")
        try await phone.engine.sync()
        account.signIn(user: "alice")
        try await phone.engine.sync()
        XCTAssertEqual(names(cloud, "alice"), ["a", "b", "c"])
        XCTAssertEqual(names(cloud, "bob"), [])
        let back = try await phone.engine.allModels()
        XCTAssertEqual(back, [Note("a"), Note("b", "edited"), Note("c")])
    }

    // P-38
    func testRemovingDataOnSignOutLosesNoEdit() async throws {
        let cloud = FakeCloud()
        let (account, phone) = makePhone(cloud) { $0.onSignOut = .remove }
        try await phone.engine.upload([Note("a"), Note("b")])
        try await phone.engine.sync()
        try await phone.engine.upload(Note("c"))
        account.signOut()
        do { try await phone.engine.sync() } catch let error as SyncError where error.code == .cloud {}
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("c")])
        account.signIn(user: "alice")
        try await phone.engine.sync()
        let back = try await phone.engine.allModels()
        XCTAssertEqual(back, [Note("a"), Note("b"), Note("c")])
        XCTAssertEqual(names(cloud, "alice"), ["a", "b", "c"])
    }
}
