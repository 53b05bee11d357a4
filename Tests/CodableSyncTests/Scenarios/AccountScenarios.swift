import XCTest

@testable import CodableSync

/// No user is signed in, a user signs in or out, or the account is temporarily unavailable.
class AccountScenarios: AccountScenario {
    // ZA-08
    func testWithoutAUserUploadsAreAcceptedAndNoRequestIsSent() async throws {
        let phone = try makeAccountDevice(Note.self, user: nil) { $0.automaticallySyncs = true }
        try await phone.engine.upload([Note("a"), Note("b")])
        try await quiet(phone.device)
        let account = try await phone.engine.diagnostics().accountStatus
        XCTAssertEqual(account, .noAccount)
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        let diagnostics = try await phone.engine.diagnostics()
        XCTAssertEqual(diagnostics.status, .paused(.account(.noAccount)))
        XCTAssertNil(diagnostics.userRecordName)
        XCTAssertEqual(phone.changes, [])
        let (pending, shown) = (try await phone.pending(), try await phone.shown())
        XCTAssertEqual([pending, shown], [["a", "b"], ["a", "b"]])
        for operation in ScriptedDatabase.Operation.allCases where operation != .account {
            XCTAssertEqual(phone.device.database.count(operation), 0, operation.rawValue)
        }
    }

    // ZA-08
    func testInitialModelsAreNotSentWithoutAUser() async throws {
        let phone = try makeAccountDevice(Note.self, user: nil)
        try await phone.engine.uploadOnce { [Note("old-1"), Note("old-2")] }
        try await phone.engine.start()
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        try await phone.device.restart()
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        XCTAssertEqual(phone.device.database.count(.modify), 0)
        XCTAssertEqual(phone.device.database.count(.fetch), 0)
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let server = try await names(of: "alice", phone)
        XCTAssertEqual(server, ["old-1", "old-2"])
    }

    // ZA-09
    func testFirstSignInSendsQueuedEdits() async throws {
        let phone = try makeAccountDevice(Note.self, user: nil) { $0.automaticallySyncs = true }
        try await phone.engine.upload(Note("a"))
        try await phone.device.restart()
        try await phone.engine.upload(Note("b"))
        try await put(Note("c"), of: "alice")
        phone.account.signIn("alice")
        try await quiet(phone.device)
        let server = try await names(of: "alice", phone)
        XCTAssertEqual(server, ["a", "b", "c"])
        try await quiet(phone.device)
        XCTAssertEqual(phone.changes, ["- > alice"])
        let user = try await phone.user()
        XCTAssertEqual(user, "alice")
        // The event is sent once: the next start knows the user.
        try await phone.device.restart()
        try await phone.engine.sync()
        XCTAssertEqual(phone.changes, ["- > alice"])
    }

    // ZA-10, ZA-16, ZA-17, I-41, A1
    func testTemporarilyUnavailableAccountPausesSync() async throws {
        for status in [AccountStatus.temporarilyUnavailable, .restricted, .couldNotDetermine] {
            let phone = try makeAccountDevice(Note.self, user: "alice") {
                $0.automaticallySyncs = true
                $0.onSignOut = .remove
                $0.storage = .inMemory
            }
            let user = "alice-\(status.rawValue)"
            phone.account.signIn(user)
            try await phone.engine.upload([Note("sent"), Note("edited", "old")])
            try await quiet(phone.device)
            let sent = phone.device.database.modifies.count
            phone.account.set(status)
            try await quiet(phone.device)
            let told = try await phone.engine.diagnostics().status
            XCTAssertEqual(told, .paused(.account(status)))
            try await phone.engine.upload([Note("edited", "new"), Note("added")])
            let shown = try await phone.shown()
            XCTAssertEqual(shown, ["added", "edited", "sent"], "\(status): nothing is removed")
            XCTAssertEqual(phone.device.database.modifies.count, sent)
            let diagnostics = try await phone.engine.diagnostics()
            XCTAssertEqual(diagnostics.accountStatus, status)
            XCTAssertEqual(diagnostics.userRecordName, user)

            phone.account.set(.available)
            try await quiet(phone.device)
            let names = phone.device.database.modifies.dropFirst(sent).flatMap(\.names)
            XCTAssertEqual(names.sorted(), ["added", "edited"], "\(status): only the unsent edits")
            XCTAssertEqual(phone.changes, ["- > \(user)"], "\(status): no change of user")
            try await phone.engine.close()
        }
    }

    // ZA-16, A3
    func testFailedAccountCheckPausesSync() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.onSignOut = .remove }
        try await phone.engine.upload(Note("a"))
        try await phone.engine.sync()
        try await phone.device.restart()
        phone.account.signOut()
        phone.account.failLookUps(.serviceUnavailable, times: 3)
        for _ in 0..<3 {
            await assertThrows(.cloud(CloudError(.serviceUnavailable))) { try await phone.engine.sync() }
        }
        let shown = try await phone.shown()
        XCTAssertEqual(shown, ["a"], "a failed check is not a sign-out")
        try await phone.engine.upload(Note("b"))
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let server = try await names(of: "alice", phone)
        XCTAssertEqual(server, ["a", "b"])
        XCTAssertEqual(phone.changes, ["- > alice"])
    }

    // ZA-17
    func testEveryAccountStatusIsReported() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.automaticallySyncs = true }
        var statuses = phone.engine.accountStatus.makeAsyncIterator()
        let first = await statuses.next()
        XCTAssertEqual(first, .available)
        // A request in flight is refused without a user before the look-up says why.
        await phone.engine.container.waitUntilIdle()
        for status in [
            AccountStatus.restricted, .temporarilyUnavailable, .couldNotDetermine, .noAccount, .available,
        ] {
            phone.account.set(status)
            let next = await statuses.next()
            XCTAssertEqual(next, status)
        }
    }

    // ZA-11, P-38
    func testSignOutKeepsAllRecordsByDefault() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.automaticallySyncs = true }
        try await phone.engine.upload([Note("a"), Note("b")])
        try await quiet(phone.device)
        phone.account.signOut()
        try await quiet(phone.device)
        let sent = phone.device.database.modifies.count
        try await phone.engine.upload(Note("c"))
        try await phone.engine.delete(named: ["a"])
        var shown = try await phone.shown()
        XCTAssertEqual(shown, ["b", "c"])
        let user = try await phone.user()
        XCTAssertEqual(user, "alice", "edits belong to the last known user")
        XCTAssertEqual(phone.device.database.modifies.count, sent)

        // The same after a restart; the app is not told again.
        try await phone.device.restart()
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        shown = try await phone.shown()
        XCTAssertEqual(shown, ["b", "c"])
        XCTAssertEqual(phone.changes, ["- > alice", "alice > -"])

        phone.account.signIn("alice")
        try await quiet(phone.device)
        let server = try await names(of: "alice", phone)
        XCTAssertEqual(server, ["b", "c"])
        XCTAssertEqual(phone.changes, ["- > alice", "alice > -", "- > alice"])
    }

    // ZA-08
    func testSignInIsFoundWithoutASignal() async throws {
        let phone = try makeAccountDevice(Note.self, user: nil) { $0.automaticallySyncs = true }
        try await phone.engine.upload(Note("a"))
        try await quiet(phone.device)
        let account = try await phone.engine.diagnostics().accountStatus
        XCTAssertEqual(account, .noAccount)
        phone.account.signIn("alice", signal: false)
        clock.advance(by: .seconds(300))
        try await quiet(phone.device)

        phone.account.signOut()
        try await quiet(phone.device)
        phone.account.signIn("bob", signal: false)
        try await phone.engine.sync()
        XCTAssertEqual(phone.changes.last, "- > bob")
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
    }
}
