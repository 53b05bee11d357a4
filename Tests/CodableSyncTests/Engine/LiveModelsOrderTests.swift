import Foundation
import XCTest

@testable import CodableSync

/// A call of `LiveModels` comes before every later call of the engine, even in one turn of the main actor.
@MainActor
final class LiveModelsOrderTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var cloud = FakeCloud(clock: clock)
    private let files = MemoryFileSystem()

    private func makeDevice(_ files: any FileSystem = MemoryFileSystem()) -> Device<Note> {
        Device(cloud.database(), clock: clock) { $0.fileSystem = files }
    }

    /// A phone that shows one synced note.
    private func makePhone() async throws -> (phone: Device<Note>, live: LiveModels<Note>) {
        let phone = makeDevice(files)
        try await phone.engine.upload(Note("a", "1"))
        try await phone.engine.sync()
        let live = LiveModels(phone.engine)
        try await live.settle()
        clock.advance(by: .seconds(60))
        return (phone, live)
    }

    private func shownElsewhere() async throws -> [Note] {
        let tablet = makeDevice()
        try await tablet.engine.sync()
        return try await tablet.engine.allModels()
    }

    func testASyncSendsWhatWasJustAdded() async throws {
        let (phone, live) = try await makePhone()
        live.add(Note("b", "new"))
        try await phone.engine.sync()
        live.edit(Note("b")) { $0.title += "er" }
        try await phone.engine.sendChanges()
        let models = try await shownElsewhere()
        XCTAssertEqual(models, [Note("a", "1"), Note("b", "newer")])
    }

    func testAnEditBeforeTheAnswerToAPurgeIsKept() async throws {
        let (phone, live) = try await makePhone()
        try cloud.purgeZone(ZoneID(zoneName: "Item"))
        do {
            try await phone.engine.sync()
            XCTFail("no decision is awaited")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .waitingForDecision)
        }
        live.edit(Note("a")) { $0.title = "edited" }
        try await phone.engine.resolvePurge(.removeLocal)
        try await phone.engine.sync()
        XCTAssertNil(live.failure)
        let models = try await shownElsewhere()
        XCTAssertEqual(models, [Note("a", "edited")])
    }

    func testQuittingSendsWhatIsStoredWhileTheMainActorStandsStill() async throws {
        let phone = makeDevice(files)
        try await phone.engine.upload(Note("a", "stored"))
        let live = LiveModels(phone.engine)
        live.edit(Note("a")) { $0.title = "edited" }
        let lifecycle = AppLifecycle(of: phone.engine.container)
        let arrival = DispatchSemaphore(value: 0)
        let cloud = cloud
        let quitting = Task.detached { try await lifecycle.sendLastChanges() }
        let watching = Task.detached {
            while cloud.records(in: ZoneID(zoneName: "Item")).isEmpty, !Task.isCancelled {
                await Task.yield()
            }
            arrival.signal()
        }
        let end = Self.stand(until: arrival)
        watching.cancel()
        guard end == .success else { return XCTFail("nothing arrives while the main actor stands still") }
        XCTAssertEqual(cloud.records(in: ZoneID(zoneName: "Item"))["a"]?.fields["title"], .string("stored"))
        try await quitting.value
        XCTAssertEqual(cloud.records(in: ZoneID(zoneName: "Item"))["a"]?.fields["title"], .string("edited"))
        try await phone.engine.close()
    }

    /// Blocks the main actor, as an app that quits does.
    private nonisolated static func stand(until arrival: DispatchSemaphore) -> DispatchTimeoutResult {
        arrival.wait(timeout: .now() + 20)
    }

    func testTheLaterEditWins() async throws {
        let (phone, live) = try await makePhone()
        live.edit(Note("a")) { $0.title = "first" }
        try await phone.engine.edit(named: "a") { $0.title = "second" }
        try await live.settle()
        XCTAssertEqual(live.models["a"]?.title, "second")
    }

    func testClosingStoresWhatWasJustMade() async throws {
        let (phone, live) = try await makePhone()
        live.add(Note("b", "new"))
        live.edit(Note("a")) { $0.title = "2" }
        try await phone.engine.close()
        let next = makeDevice(files)
        let models = try await next.engine.allModels()
        XCTAssertEqual(models, [Note("a", "2"), Note("b", "new")])
        while !live.calls.isEmpty { await Task.yield() }
        XCTAssertNil(live.failure)
    }

    /// The first call of all is followed by the end of the app.
    func testClosingOpensTheEngineForTheCallsBeforeIt() async throws {
        let phone = makeDevice(files)
        LiveModels(phone.engine).add(Note("b", "new"))
        try await phone.engine.close()
        let models = try await makeDevice(files).engine.allModels()
        XCTAssertEqual(models, [Note("b", "new")])
    }

    func testAnIdleEngineHasStoredWhatWasJustAdded() async throws {
        let (phone, live) = try await makePhone()
        live.add(Note("b", "new"))
        await phone.engine.waitUntilIdle()
        let pending = try await phone.engine.pendingChanges().map(\.recordName)
        XCTAssertEqual(pending, ["b"])
    }

    func testADraftIsAppliedToTheEditBeforeIt() async throws {
        let (phone, live) = try await makePhone()
        live.edit(Note("a")) { $0.title = "2" }
        let shown = try XCTUnwrap(live.models["a"])
        var draft = shown
        draft.title = "3"
        try await phone.engine.upload(draft, editedFrom: shown)
        try await live.settle()
        XCTAssertEqual(live.models["a"]?.title, "3")
    }

    func testAnEditCanBeUndoneAtOnce() async throws {
        let (phone, live) = try await makePhone()
        let before = try XCTUnwrap(live.models["a"])
        live.edit(before) { $0.title = "2" }
        let after = try XCTUnwrap(live.models["a"])
        try await phone.engine.upload(before, editedFrom: after)
        try await live.settle()
        XCTAssertEqual(live.models["a"]?.title, "1")
    }

    // MARK: Additions over earlier calls

    /// The addition is equal to what the device had before the edit.
    func testAnAdditionReplacesAnEditThatTheStreamHasNotShown() async throws {
        let (phone, live) = try await makePhone()
        let former = try XCTUnwrap(live.models["a"])
        live.edit(former) { $0.title = "2" }
        live.add(former)
        XCTAssertEqual(live.models["a"]?.title, "1")
        try await live.settle()
        XCTAssertEqual(live.models["a"]?.title, "1")
        try await phone.engine.sync()
        let models = try await shownElsewhere()
        XCTAssertEqual(models, [former])
    }

    func testAnAdditionThatChangesNothingEndsAfterTheEditBeforeIt() async throws {
        let (_, live) = try await makePhone()
        live.edit(Note("a")) { $0.title = "2" }
        live.add(try XCTUnwrap(live.models["a"]))
        while !live.calls.isEmpty {
            XCTAssertEqual(live.models["a"]?.title, "2")
            await Task.yield()
        }
        try await live.settle()
        XCTAssertEqual(live.models["a"]?.title, "2")
    }

    /// Another device has changed the note in the meantime.
    func testAnAdditionRevertsNothingThatTheListHasNotShown() async throws {
        let (phone, live) = try await makePhone()
        let tablet = makeDevice()
        try await tablet.engine.sync()
        try await tablet.engine.edit(named: "a") { $0.note = "theirs" }
        try await tablet.engine.sync()
        let former = try XCTUnwrap(live.models["a"])
        live.edit(former) { $0.title = "2" }
        live.add(former)
        live.edit(former) { $0.count = 1 }
        try await phone.engine.sync()
        try await live.settle()
        XCTAssertEqual(live.models["a"], Note("a", "1", note: "theirs", count: 1))
    }

    /// The engine has made an edit that the list does not show yet.
    func testAnAdditionReplacesAnEditOfTheEngine() async throws {
        let (phone, live) = try await makePhone()
        let engine = phone.engine
        for shown in [live.models["a"], nil] {
            try await engine.edit(named: "a") { $0.title = "2" }
            let place = engine.place(of: "a", in: nil)
            try await engine.upload(Note("a", "1"), over: shown, at: place)
            let model = try await engine.model(named: "a")
            XCTAssertEqual(model, Note("a", "1"))
        }
    }

    func testAnAdditionAfterADeletionWins() async throws {
        let (phone, live) = try await makePhone()
        let former = try XCTUnwrap(live.models["a"])
        live.edit(former) { $0.title = "2" }
        live.delete(former)
        live.add(former)
        try await live.settle()
        XCTAssertEqual(live.models["a"], former)
        try await phone.engine.sync()
        let models = try await shownElsewhere()
        XCTAssertEqual(models, [former])
    }

    // MARK: Models that carry system fields

    /// The shown model and the added one carry the same version.
    func testAnAdditionOfTheShownVersionReplacesTheEditBeforeIt() async throws {
        let phone = Device<StampedNote>(cloud.database(), clock: clock)
        try await phone.engine.upload(StampedNote(id: "a", title: "1"))
        try await phone.engine.sync()
        let live = LiveModels(phone.engine)
        try await live.settle()
        let former = try XCTUnwrap(live.models["a"])
        XCTAssertNotNil(former.systemFields)
        live.edit(former) { $0.title = "2" }
        live.add(former)
        try await live.settle()
        XCTAssertEqual(live.models["a"]?.title, "1")
    }
}

/// A note that carries its version.
private struct StampedNote: RecordCodable, SystemFieldsStoring, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var title: String
    var systemFields: Data?

    var recordName: String { id }

    private enum CodingKeys: String, CodingKey { case id, title }

    static func resolveConflict(_ conflict: Conflict<StampedNote>) throws -> StampedNote? {
        try conflict.merged()
    }
}
