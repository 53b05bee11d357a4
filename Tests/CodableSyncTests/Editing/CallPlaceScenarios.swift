import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

extension EngineScenario {
    /// Makes a call, which has its place in the queue when this returns.
    func called<Value: Sendable>(
        _ call: @escaping @MainActor () async throws -> Value
    ) async -> Task<Value, any Error> {
        let task = Task { @MainActor in try await call() }
        // The main actor runs one after the other, so the call has begun.
        await MainActor.run {}
        return task
    }
}

/// A call takes its place when it is made, whatever happens while it is encoded.
final class CallPlaceScenarios: EngineScenario {
    /// A phone that has fetched another device's change, and an upload of an older copy that is still being encoded.
    private func makeHeldUpload() async throws -> (
        phone: Device<HeldItem>, tablet: Device<HeldItem>, hold: DecodingHold, upload: Task<Void, any Error>
    ) {
        let (phone, tablet) = try await makePair(HeldItem("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet, phone)
        pass()
        let engine = phone.engine
        let hold = DecodingHold.next(of: "A")
        let upload = Task { try await engine.upload(HeldItem("A", "mine")) }
        await hold.reached()
        return (phone, tablet, hold, upload)
    }

    func testAnUploadIsNotBasedOnALaterRead() async throws {
        let (phone, tablet, hold, upload) = try await makeHeldUpload()
        let read = try await phone.engine.model(named: "A")
        XCTAssertEqual(read?.note, "theirs")
        hold.release()
        try await upload.value
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, HeldItem("A", "mine", note: "theirs"))
    }

    func testAnUploadIsNotBasedOnWhatALaterStreamRequestAccepts() async throws {
        let (phone, tablet) = try await makePair(HeldItem("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet, phone)
        pass()
        let engine = phone.engine
        let changes = engine.changes
        for await change in changes {
            XCTAssertEqual(change, .updated([HeldItem("A", "title", note: "theirs")]))
            break
        }
        let hold = DecodingHold.next(of: "A")
        let upload = Task { try await engine.upload(HeldItem("A", "mine")) }
        await hold.reached()
        let next = Task { for await _ in changes { break } }
        await engine.reach("the stream has asked, and so accepted") { !$0.hub.isIdle }
        hold.release()
        try await upload.value
        try await settle(phone, tablet)
        next.cancel()
        await next.value
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, HeldItem("A", "mine", note: "theirs"))
    }

    @MainActor
    func testACallOfEachKindThatThrowsHoldsUpNoOther() async throws {
        let engine = try makeDevice(Note.self).engine
        let calls: [@MainActor () async throws -> Void] = [
            { try await engine.upload(Note("")) },
            { try await engine.upload(Note("A"), editedFrom: Note("B")) },
            { try await engine.upload(Note(""), editedFrom: nil) },
            { try await engine.edit(named: "") { $0.count = 1 } },
            { try await engine.edit(named: "A") { $0.count = 1 } },
            { try await engine.delete(recordNames: [""]) },
            { try await engine.start(uploading: [Note("")]) },
        ]
        for (index, call) in calls.enumerated() {
            do {
                try await call()
                XCTFail("call \(index) throws nothing")
            } catch is SyncError {}
            let cancelled = Task { try await call() }
            cancelled.cancel()
            let result = await cancelled.result
            XCTAssertThrowsError(try result.get()) {
                XCTAssertTrue($0 is CancellationError, "\(index): \($0)")
            }
            let isDone = await waiting(for: "the call after call \(index)", else: false) {
                do {
                    try await engine.upload(Note("done"))
                    return true
                } catch { return false }
            }
            if !isDone { return }
        }
    }

    @MainActor
    func testASyncThatIsCancelledHoldsUpNoOther() async throws {
        let engine = try makeDevice(Note.self).engine
        try await engine.upload(Note("A"))
        let cancelled = Task { try await engine.sync() }
        cancelled.cancel()
        let result = await cancelled.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        let isDone = await waiting(for: "the call after it", else: false) {
            do {
                try await engine.upload(Note("B"))
                return true
            } catch { return false }
        }
        XCTAssertTrue(isDone)
    }

    func testACallThatWaitsForItsTurnCanBeCancelled() async throws {
        let (phone, _) = try await makePair(HeldItem("A", "title"))
        let engine = phone.engine
        let hold = DecodingHold.next(of: "A")
        let edit = Task { try await engine.edit(named: "A") { $0.title = "edited" } }
        await hold.reached()
        let deletion = await called { try await engine.delete(HeldItem("A")) }
        // The engine has processed it before.
        _ = try await engine.diagnostics()
        deletion.cancel()
        let result = await deletion.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        hold.release()
        _ = try await edit.value
        let model = try await engine.model(named: "A")
        XCTAssertEqual(model?.title, "edited")
    }

    /// The cause passes at once: no waiting call succeeds after one before it has failed.
    @MainActor
    func testAllCallsThatWaitForAnOpeningThatFailsThrowItsError() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        let barrier = Barrier()
        files.before { operation, path throws(FileError) in
            barrier.pass()
            files.before(nil)
            throw FileError(operation, path, code: EIO)
        }
        let engine = try makeDevice(Note.self) { $0.fileSystem = files }.engine
        let calls = (0..<5).map { count in Task { try await engine.upload(Note("\(count)")) } }
        await barrier.reached()
        barrier.open()
        for call in calls {
            let result = await call.result
            XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is SyncError, "\($0)") }
        }
        let models = try await engine.allModels()
        XCTAssertEqual(models, [])
    }
}

/// A call is for the user who is signed in when it is made.
final class CallUserScenarios: AccountScenario {
    func testACallMadeBeforeASwitchIsStoredWithTheFormerUserAndOneMadeAfterItWithTheNext() async throws {
        let phone = try makeAccountDevice(HeldItem.self, user: "alice") { $0.automaticallySyncs = true }
        try await phone.engine.upload(HeldItem("a-1", "of alice"))
        try await phone.engine.sync()
        try await quiet(phone.device)
        let engine = phone.engine
        let hold = DecodingHold.next(of: "a-2")
        let before = Task { try await engine.upload(HeldItem("a-2", "of alice")) }
        await hold.reached()
        let edit = await called { try await engine.edit(named: "a-1") { $0.note = "of alice" } }
        phone.account.signIn("bob")
        await engine.reach("bob comes") { $0.awaitedGeneration != nil }
        let after = await called { try await engine.upload(HeldItem("b-1", "of bob")) }
        hold.release()
        try await before.value
        _ = try await edit.value
        try await after.value
        try await quiet(phone.device)
        let bob = try await phone.shown()
        XCTAssertEqual(bob, ["b-1"])
        let servers = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertFalse(servers.0.contains("b-1"), "\(servers.0)")
        XCTAssertEqual(servers.1, ["b-1"])
        phone.account.signIn("alice")
        try await quiet(phone.device)
        let alice = try await engine.allModels()
        XCTAssertEqual(
            alice,
            [HeldItem("a-1", "of alice", note: "of alice"), HeldItem("a-2", "of alice")]
        )
    }

    /// What a read returned of a former user's records is no ancestor for the next user's.
    func testAReadBeforeASwitchIsNoAncestorForTheNextUser() async throws {
        try await put(Note("x", "of alice", note: "alice"), of: "alice")
        try await put(Note("x", "of bob", note: "bob"), of: "bob")
        let phone = try makeAccountDevice(Note.self, user: "alice")
        try await phone.engine.sync()
        _ = try await phone.engine.model(named: "x")
        phone.account.signIn("bob")
        try await phone.engine.sync()
        pass()
        try await phone.engine.upload(Note("x", "mine"))
        try await phone.engine.sync()
        let model = try await phone.engine.model(named: "x")
        XCTAssertEqual(model?.note, "bob", "without an ancestor nothing of bob's is cleared")
    }
}

/// A model that carries the version that it was made from.
final class CarriedVersionScenarios: EngineScenario {
    private struct Setting {
        var phone: Device<Tagged>
        var tablet: Device<Tagged>
    }

    private func makeTagged() async throws -> Setting {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "title"))
        return Setting(phone: phone, tablet: tablet)
    }

    private func decided(_ device: Device<Tagged>) -> Int {
        device.events.count { if case .conflictResolved = $0 { true } else { false } }
    }

    /// The app has not seen that version here, but the model carries its tag.
    func testAnUploadIsBasedOnTheStoredVersionWhoseTagItCarries() async throws {
        let one = try await makeTagged()
        try await one.tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(one.tablet, one.phone)
        let read = try await one.tablet.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        XCTAssertNotNil(model.systemFields)
        model.title = "mine"
        pass()
        try await one.phone.engine.upload(model)
        try await settle(one.phone, one.tablet)
        let result = try await one.tablet.engine.model(named: "A")
        XCTAssertEqual([result?.title, result?.note], ["mine", "theirs"])
        XCTAssertEqual(decided(one.phone), 0)
    }

    /// The version is still stored below a pending edit, although the cloud has a newer one by now.
    func testAnUploadThatCarriesAnOlderStoredTagRevertsNoOtherField() async throws {
        let one = try await makeTagged()
        let read = try await one.phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        try await one.tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(one.tablet, one.phone)
        model.title = "mine"
        pass()
        try await one.phone.engine.upload(model)
        try await settle(one.phone, one.tablet)
        let result = try await one.tablet.engine.model(named: "A")
        XCTAssertEqual([result?.title, result?.note], ["mine", "theirs"])
        XCTAssertEqual(decided(one.phone), 0, "no field was changed on both sides")
    }

    func testAnUploadWithoutATagIsBasedOnWhatTheAppHasSeen() async throws {
        let one = try await makeTagged()
        try await one.tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(one.tablet, one.phone)
        pass()
        try await one.phone.engine.upload(Tagged(id: "A", title: "mine"))
        try await settle(one.phone, one.tablet)
        let result = try await one.tablet.engine.model(named: "A")
        XCTAssertEqual([result?.title, result?.note], ["mine", "theirs"])
        XCTAssertEqual(decided(one.phone), 1)
    }

    func testAnUploadThatCarriesATagOfNoStoredVersionIsAConflictWithoutAncestor() async throws {
        let one = try await makeTagged()
        let read = try await one.phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        for note in ["second", "third"] {
            try await one.tablet.engine.edit(named: "A") { $0.note = note }
            try await settle(one.tablet, one.phone)
            _ = try await one.phone.drain()
        }
        Tagged.asked.withLock { $0 = [] }
        model.title = "mine"
        pass()
        try await one.phone.engine.upload(model)
        try await settle(one.phone, one.tablet)
        let asked = Tagged.asked.withLock { $0 }
        XCTAssertEqual(asked.count, 1)
        XCTAssertNil(asked.first?.ancestor)
        XCTAssertEqual(asked.first?.client.title, "mine")
        XCTAssertEqual(asked.first?.server.note, "third")
    }
}

/// A model that stores its system fields, and remembers what its resolver was asked.
struct Tagged: SystemFieldsStoring, Equatable {
    static let asked = Locked<[Conflict<Tagged>]>([])
    static var recordType: String { "Item" }

    var id: String
    var title: String
    var note: String?
    var systemFields: Data?

    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<Tagged>) throws -> Tagged? {
        asked.withLock { $0.append(conflict) }
        return try conflict.merged()
    }
}

/// Every uploaded model can be read back, here and on every other device.
final class ReadableUploadScenarios: EngineScenario {
    func testAModelThatCannotBeReadBackIsRefusedWithItsOwnErrorText() async throws {
        let phone = try makeDevice(Span.self)
        let engine = phone.engine
        let fine = Span(id: "A", lower: 1, upper: 9)
        let wrong = Span(id: "A", lower: 9, upper: 1)
        try await engine.upload(fine)
        let calls: [(String, () async throws -> Void)] = [
            ("upload", { try await engine.upload(Span(id: "B", lower: 1, upper: 2), wrong) }),
            ("draft", { try await engine.upload(wrong, editedFrom: fine) }),
            ("new draft", { try await engine.upload(wrong, editedFrom: nil) }),
            ("edit", { try await engine.edit(fine) { $0.lower = 10 } }),
            ("start", { try await engine.start(uploading: [wrong]) }),
        ]
        for (what, call) in calls {
            do {
                try await call()
                XCTFail("\(what) throws nothing")
            } catch SyncError.invalidModels(let models) {
                XCTAssertEqual(models.map(\.recordName), ["A"], what)
                XCTAssertTrue(models[0].reason.contains("lower above upper"), "\(what): \(models[0].reason)")
            }
            let models = try await engine.allModels()
            XCTAssertEqual(models, [fine], what)
        }
    }
}
