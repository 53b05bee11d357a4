import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

extension EngineScenario {
    /// Starts a call and returns once its position in the order of calls is fixed.
    func called<Value: Sendable>(
        _ call: @escaping @MainActor () async throws -> Value
    ) async -> Task<Value, any Error> {
        let task = Task { @MainActor in try await call() }
        // The main actor runs its jobs in order, so the call has started.
        await MainActor.run {}
        return task
    }
}

/// A call keeps its position while its model is encoded, even if the app receives changes meanwhile.
final class CallPlaceScenarios: EngineScenario {
    /// A phone that has fetched another device's change and is still encoding an upload of an older copy.
    private func makeHeldUpload() async throws -> (
        phone: Device<HeldItem>, tablet: Device<HeldItem>, hold: DecodingHold, upload: Task<Void, any Error>
    ) {
        let (phone, tablet) = try await makeFetchedPair()
        let (hold, upload) = await beginHeldUpload(phone)
        return (phone, tablet, hold, upload)
    }

    /// A phone that has fetched another device's change but not delivered it to its app.
    private func makeFetchedPair() async throws -> (phone: Device<HeldItem>, tablet: Device<HeldItem>) {
        let (phone, tablet) = try await makePair(HeldItem("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet, phone)
        pass()
        return (phone, tablet)
    }

    private func beginHeldUpload(_ phone: Device<HeldItem>) async -> (DecodingHold, Task<Void, any Error>) {
        let engine = phone.engine
        let hold = DecodingHold.next(of: "A")
        let upload = Task { try await engine.upload(HeldItem("A", "mine")) }
        await hold.reached()
        return (hold, upload)
    }

    @MainActor
    func testAFailedOrCancelledCallOfAnyKindDoesNotBlockTheNext() async throws {
        let engine = try makeDevice(Note.self).engine
        let calls: [@MainActor () async throws -> Void] = [
            { try await engine.upload(Note("")) },
            { try await engine.upload(Note("A"), editedFrom: Note("B")) },
            { try await engine.upload(Note(""), editedFrom: nil) },
            { try await engine.edit(named: "") { $0.count = 1 } },
            { try await engine.edit(named: "A") { $0.count = 1 } },
            { try await engine.delete(named: [""]) },
            { try await engine.uploadOnce { [Note("")] } },
        ]
        for (index, call) in calls.enumerated() {
            do {
                try await call()
                XCTFail("call \(index) throws no error")
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
    func testACancelledSyncDoesNotBlockTheNextCall() async throws {
        let engine = try makeDevice(Note.self).engine
        try await engine.upload(Note("A"))
        let cancelled = Task { try await engine.sync() }
        cancelled.cancel()
        let result = await cancelled.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        let isDone = await waiting(for: "the call after the cancelled sync", else: false) {
            do {
                try await engine.upload(Note("B"))
                return true
            } catch { return false }
        }
        XCTAssertTrue(isDone)
    }

    func testAWaitingCallCanBeCancelled() async throws {
        let (phone, _) = try await makePair(HeldItem("A", "title"))
        let engine = phone.engine
        let hold = DecodingHold.next(of: "A")
        let edit = Task { try await engine.edit(named: "A") { $0.title = "edited" } }
        await hold.reached()
        let deletion = await called { try await engine.delete(HeldItem("A")) }
        // The engine handles this call after it has received the deletion.
        _ = try await engine.diagnostics()
        deletion.cancel()
        let result = await deletion.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        hold.release()
        _ = try await edit.value
        let model = try await engine.model(named: "A")
        XCTAssertEqual(model?.title, "edited")
    }

    /// Opening fails only once, but no waiting call may succeed after an earlier one has failed.
    @MainActor
    func testAFailedOpeningFailsEveryWaitingCall() async throws {
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

/// Uploads of models whose system fields carry the version they are based on.
final class CarriedVersionScenarios: EngineScenario {
    private struct Setting {
        var phone: Device<Tagged>
        var tablet: Device<Tagged>
    }

    private func makeTagged() async throws -> Setting {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "title"))
        return Setting(phone: phone, tablet: tablet)
    }

    /// Changes the note on the tablet and syncs it to the phone.
    private func change(_ one: Setting, note: String = "theirs") async throws {
        try await one.tablet.engine.edit(named: "A") { $0.note = note }
        try await settle(one.tablet, one.phone)
    }

    /// Uploads a model with a new title from the phone and asserts that the tablet's note is kept.
    private func assertTheNoteStays(
        _ one: Setting,
        afterUploading model: Tagged,
        conflicts: Int,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        try await upload(model, one)
        let result = try await one.tablet.engine.model(named: "A")
        XCTAssertEqual([result?.title, result?.note], ["mine", "theirs"], file: file, line: line)
        let decided = one.phone.events.count { if case .conflictResolved = $0 { true } else { false } }
        XCTAssertEqual(decided, conflicts, file: file, line: line)
    }

    private func upload(_ model: Tagged, _ one: Setting) async throws {
        var model = model
        model.title = "mine"
        pass()
        try await one.phone.engine.upload(model)
        try await settle(one.phone, one.tablet)
    }

    /// The phone has not delivered that version to its app, but the model carries its change tag.
    func testAnUploadIsBasedOnTheStoredVersionWithItsChangeTag() async throws {
        let one = try await makeTagged()
        try await change(one)
        let read = try await one.tablet.engine.model(named: "A")
        let model = try XCTUnwrap(read)
        XCTAssertNotNil(model.systemFields)
        try await assertTheNoteStays(one, afterUploading: model, conflicts: 0)
    }

    /// The cloud has a newer version, but the phone still stores the one with this tag.
    func testAnUploadWithTheTagOfAnOlderStoredVersionRevertsNoOtherField() async throws {
        let one = try await makeTagged()
        let read = try await one.phone.engine.model(named: "A")
        try await change(one)
        try await assertTheNoteStays(one, afterUploading: try XCTUnwrap(read), conflicts: 0)
    }

    func testAnUploadWithATagThatIsNotStoredIsAConflictWithoutAnAncestor() async throws {
        let one = try await makeTagged()
        let read = try await one.phone.engine.model(named: "A")
        for note in ["second", "third"] {
            try await change(one, note: note)
            _ = try await one.phone.drain()
        }
        Tagged.asked.withLock { $0 = [] }
        try await upload(try XCTUnwrap(read), one)
        let asked = Tagged.asked.withLock { $0 }
        XCTAssertEqual(asked.count, 1)
        XCTAssertNil(asked.first?.ancestor)
        XCTAssertEqual(asked.first?.client.title, "mine")
        XCTAssertEqual(asked.first?.server.note, "third")
    }
}

/// A model that stores its system fields and records the conflicts passed to its resolver.
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

/// A model that cannot be decoded again is not uploaded.
final class ReadableUploadScenarios: EngineScenario {
    func testAModelThatCannotBeDecodedAgainIsRejectedWithItsOwnErrorText() async throws {
        let phone = try makeDevice(Span.self)
        let engine = phone.engine
        let fine = Span(id: "A", lower: 1, upper: 9)
        let wrong = Span(id: "A", lower: 9, upper: 1)
        try await engine.upload(fine)
        let calls: [(String, () async throws -> Void)] = [
            ("upload", { try await engine.upload([Span(id: "B", lower: 1, upper: 2), wrong]) }),
            ("draft", { try await engine.upload(wrong, editedFrom: fine) }),
            ("new draft", { try await engine.upload(wrong, editedFrom: nil) }),
            ("edit", { try await engine.edit(fine) { $0.lower = 10 } }),
            ("start", { try await engine.uploadOnce { [wrong] } }),
        ]
        for (what, call) in calls {
            do {
                try await call()
                XCTFail("\(what) throws no error")
            } catch let error as SyncError where error.code == .invalidModels {
                XCTAssertEqual(error.recordNames, ["A"], what)
                XCTAssertTrue(error.message.contains("lower above upper"), "\(what): \(error.message)")
            }
            let models = try await engine.allModels()
            XCTAssertEqual(models, [fine], what)
        }
    }
}
