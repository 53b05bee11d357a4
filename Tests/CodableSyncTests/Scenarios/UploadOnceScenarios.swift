import XCTest

@testable import CodableSync

/// `uploadOnce` queues models from before the first sync once for each user, also over restarts.
final class UploadOnceScenarios: AccountScenario {
    private func offer(
        _ phone: AccountDevice<Note>,
        _ name: String,
        expecting pending: [String],
        line: UInt = #line
    ) async throws {
        try await phone.engine.uploadOnce(forEachUser: true) { [Note(name)] }
        let found = try await phone.pending()
        XCTAssertEqual(found, pending, line: line)
    }

    func testModelsAreQueuedOnceForEachUser() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        try await phone.engine.sync()
        try await offer(phone, "first", expecting: ["first"])
        try await offer(phone, "second", expecting: ["first"])
        try await phone.device.restart()
        try await offer(phone, "third", expecting: ["first"])
        try await phone.engine.sync()
        try await phone.device.restart()
        try await offer(phone, "fourth", expecting: [])
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await offer(phone, "of-bob", expecting: ["of-bob"])
        try await phone.engine.sync()
        try await phone.device.restart()
        try await offer(phone, "fifth", expecting: [])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        try await offer(phone, "sixth", expecting: [])
        let (alice, bob) = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertEqual(alice, ["first"])
        XCTAssertEqual(bob, ["of-bob"])
    }

    /// A call that is refused has queued nothing, so the next one does.
    func testARefusedCallDoesNotCount() async throws {
        let files = SimulatedFileSystem()
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.fileSystem = files }
        try await phone.engine.sync()
        do {
            try await phone.engine.uploadOnce { [Note("a"), Note("_x")] }
            XCTFail("an invalid model was taken")
        } catch let error as SyncError where error.code == .invalidModels {}
        files.leaveRoom(for: 0)
        do {
            try await phone.engine.uploadOnce { [Note("a")] }
            XCTFail("the disk is full")
        } catch let error as SyncError where error.code == .storageFull {}
        files.leaveRoom(for: nil)
        try await offer(phone, "b", expecting: ["b"])
    }

    /// Another user must not get the first one's models.
    func testModelsAreForTheFirstUserByDefault() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        try await phone.engine.sync()
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await phone.engine.uploadOnce {
            XCTFail("bob's call needs no models")
            return [Note("of-alice")]
        }
        try await phone.device.restart()
        try await phone.engine.uploadOnce { [Note("of-alice")] }
        try await phone.engine.sync()
        phone.account.signIn("alice")
        try await phone.engine.sync()
        try await phone.engine.uploadOnce { [Note("of-alice")] }
        try await phone.engine.sync()
        let (alice, bob) = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertEqual([alice, bob], [["of-alice"], []])
    }

    /// The old store is read only while it is needed.
    func testTheClosureIsCalledUntilItsModelsAreQueued() async throws {
        struct Unreadable: Error {}
        let phone = try makeAccountDevice(Note.self, user: nil)
        do {
            try await phone.engine.uploadOnce { throw Unreadable() }
            XCTFail("nothing was thrown")
        } catch is Unreadable {}
        var count = 0
        for _ in 0..<2 {
            try await phone.engine.uploadOnce {
                count += 1
                return [Note("a")]
            }
            try await phone.device.restart()
        }
        XCTAssertEqual(count, 1)
        let pending = try await phone.pending()
        XCTAssertEqual(pending, ["a"])
    }

    func testAnEmptyStoreIsReadOnce() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        try await phone.engine.uploadOnce { [] }
        try await phone.engine.uploadOnce { [Note("late")] }
        let pending = try await phone.pending()
        XCTAssertEqual(pending, [])
    }

    private let many = (0..<2500).map { Note("n\(10_000 + $0)") }.reversed()

    /// Uploads many models, and reports the progress; the task is cancelled after the first part.
    private func interruptedUpload(_ engine: SyncEngine<Note>) async throws -> [[Int]] {
        let reported = Locked<[[Int]]>([])
        let models = Array(many)
        let upload = Task {
            try await engine.uploadOnce(progress: { queued, count in
                reported.withLock { $0.append([queued, count]) }
                _ = withUnsafeCurrentTask { $0?.cancel() }
            }) { models }
        }
        let result = await upload.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        return reported.withLock { $0 }
    }

    func testAnInterruptedUploadContinuesBehindItsLastPart() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        let first = try await interruptedUpload(phone.engine)
        XCTAssertEqual(first, [[1000, 2500]])
        try await phone.device.die()
        let queued = try await phone.pending()
        XCTAssertEqual(queued.last, "n10999")
        // What the user has deleted since doesn't come back.
        try await phone.engine.discard(named: ["n10000"])
        var progress: [[Int]] = []
        try await phone.engine.uploadOnce(progress: { progress.append([$0, $1]) }) { Array(many) }
        XCTAssertEqual(progress, [[2000, 2500], [2500, 2500]])
        let all = try await phone.pending()
        XCTAssertEqual(all, many.map(\.id).sorted().filter { $0 != "n10000" })
        try await phone.device.restart()
        try await phone.engine.uploadOnce { [Note("late")] }
        let later = try await phone.pending()
        XCTAssertEqual(later.count, 2499)
    }

    func testAPartThatTheDiskRefusesIsQueuedByTheNextCall() async throws {
        let files = SimulatedFileSystem()
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.fileSystem = files }
        try await phone.engine.sync()
        do {
            try await phone.engine.uploadOnce(progress: { _, _ in files.leaveRoom(for: 0) }) { Array(many) }
            XCTFail("the disk is full")
        } catch let error as SyncError where error.code == .storageFull {}
        files.leaveRoom(for: nil)
        try await phone.engine.uploadOnce { Array(many) }
        let pending = try await phone.pending()
        XCTAssertEqual(pending, many.map(\.id).sorted())
    }

    /// An invalid model in a later part must not leave earlier ones queued.
    func testAllModelsAreCheckedBeforeAnyIsQueued() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        do {
            try await phone.engine.uploadOnce { many + [Note("~"), Note("_a"), Note("~é")] }
            XCTFail("invalid models were taken")
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertEqual(error.recordNames, ["_a", "~é"])
        }
        let pending = try await phone.pending()
        XCTAssertEqual(pending, [])
    }

    /// The rest of the models waits for its user.
    func testAUserWhoSignsInDuringTheCallGetsNothing() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        try await phone.engine.sync()
        try await phone.engine.uploadOnce {
            phone.account.signIn("bob")
            try await phone.engine.sync()
            return [Note("of-alice")]
        }
        let pending = try await phone.pending()
        XCTAssertEqual(pending, [])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        try await offer(phone, "of-alice", expecting: ["of-alice"])
    }

    /// A view calls it from its task, with whatever it has.
    @MainActor
    func testTheClosuresRunOnTheCallersActor() async throws {
        @MainActor final class OldStore { let notes = [Note("a"), Note("a", "last"), Note("b")] }
        let phone = try makeAccountDevice(Note.self, user: "alice")
        let store = OldStore()
        var progress = 0.0
        let report = { (queued: Int, count: Int) in
            MainActor.assertIsolated()
            progress = Double(queued) / Double(count)
        }
        try await phone.engine.uploadOnce(progress: report) {
            MainActor.assertIsolated()
            return store.notes
        }
        XCTAssertEqual(progress, 1)
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models, [Note("a", "last"), Note("b")])
    }

    /// An edit of the user is newer than any model from before.
    func testAModelFromBeforeDoesNotReplaceAnEdit() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        try await phone.engine.upload(Note("a", "edited"))
        try await phone.engine.uploadOnce { [Note("a", "old"), Note("b", "old")] }
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.client), [Note("a", "edited"), Note("b", "old")])
        XCTAssertEqual(pending.map(\.edited), [clock.now.wall, nil])
    }
}
