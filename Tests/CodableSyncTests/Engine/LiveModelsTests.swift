import Observation
import XCTest

@testable import CodableSync

/// The models that views show.
@MainActor
final class LiveModelsTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var cloud = FakeCloud(clock: clock)

    private func makeDevice(_ files: any FileSystem = MemoryFileSystem()) -> Device<Note> {
        Device(cloud.database(), clock: clock) { $0.fileSystem = files }
    }

    /// Waits until every call has ended, and the stream has told everything.
    private func settle(
        _ live: LiveModels<Note>,
        _ phone: Device<Note>,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        try await live.settle(file: file, line: line)
    }

    private func makeFilled(
        on files: any FileSystem = MemoryFileSystem()
    ) async throws -> (phone: Device<Note>, live: LiveModels<Note>) {
        let phone = makeDevice(files)
        try await phone.engine.upload([Note("a", "1"), Note("b", "1")])
        try await phone.engine.sync()
        let live = LiveModels(phone.engine)
        try await settle(live, phone)
        XCTAssertEqual(live.models.count, 2)
        clock.advance(by: .seconds(60))
        return (phone, live)
    }

    func testItFollowsTheEngine() async throws {
        let (phone, live) = try await makeFilled()
        let tablet = makeDevice()
        try await tablet.engine.sync()
        try await tablet.engine.edit(named: "a") { $0.title = "theirs" }
        try await tablet.engine.delete(named: ["b"])
        try await tablet.engine.sync()
        try await phone.engine.sync()
        try await settle(live, phone)
        XCTAssertEqual(live.models.mapValues(\.title), ["a": "theirs"])
    }

    func testCallsShowAtOnce() async throws {
        let (phone, live) = try await makeFilled()
        live.edit(Note("a", "old copy")) { $0.title += "2" }
        XCTAssertEqual(live.models["a"]?.title, "12", "the newest model that is shown")
        live.add(Note("c", "new"))
        XCTAssertEqual(live.models["c"]?.title, "new")
        live.delete(Note("b"))
        XCTAssertNil(live.models["b"])
        try await settle(live, phone)
        XCTAssertEqual(live.models.mapValues(\.title), ["a": "12", "c": "new"])
        XCTAssertNil(live.failure)
    }

    /// An edit is not shown twice while its outcome is on the way.
    func testEditsOfOneModelNeverShowAValueThatNobodyMade() async throws {
        let (phone, live) = try await makeFilled()
        var shown: [Int] = []
        for count in 1...40 {
            live.edit(Note("a")) { $0.count += 1 }
            XCTAssertEqual(live.models["a"]?.count, count)
            for _ in 0..<(count % 7 * 40) {
                await Task.yield()
                shown.append(live.models["a"]?.count ?? -1)
                XCTAssertEqual(live.models["a"]?.count, count)
            }
        }
        try await settle(live, phone)
        XCTAssertEqual(live.models["a"]?.count, 40)
        XCTAssertEqual(shown, shown.sorted())
    }

    func testARefusedEditIsTakenBackAndTold() async throws {
        let files = SimulatedFileSystem()
        let (phone, live) = try await makeFilled(on: files)
        files.fail(.append, code: ENOSPC)
        live.edit(Note("a")) { $0.title = "2" }
        XCTAssertEqual(live.models["a"]?.title, "2")
        try await settle(live, phone)
        XCTAssertEqual(live.models["a"]?.title, "1")
        XCTAssertEqual(live.failure?.code, .storageFull)
        live.dismissFailure()
        XCTAssertNil(live.failure)
    }

    func testRefusedAdditionsAndDeletionsAreTakenBack() async throws {
        let (phone, live) = try await makeFilled()
        live.add(Note("c", String(repeating: "x", count: 2_000_000)))
        XCTAssertNotNil(live.models["c"])
        try await settle(live, phone)
        XCTAssertNil(live.models["c"])
        XCTAssertEqual(live.failure?.code, .invalidModels)
        try await phone.engine.close()
        live.delete(Note("a"))
        XCTAssertNil(live.models["a"])
        while !live.calls.isEmpty { await Task.yield() }
        XCTAssertEqual(live.models["a"]?.title, "1")
        XCTAssertEqual(live.failure?.code, .closed)
    }

    /// The first edit is refused; the second is not.
    func testALaterEditStaysWhenAnEarlierOneIsTakenBack() async throws {
        let (phone, live) = try await makeFilled()
        live.edit(Note("a")) { $0.note = String(repeating: "x", count: 2_000_000) }
        live.edit(Note("a")) { $0.title = "2" }
        while live.failure == nil { await Task.yield() }
        XCTAssertEqual(live.models["a"]?.note?.count, nil, "taken back, also below the second")
        XCTAssertEqual(live.models["a"]?.title, "2")
        try await settle(live, phone)
        XCTAssertEqual(live.models["a"]?.title, "2")
        XCTAssertEqual(live.models["a"]?.note?.count, nil)
    }

    func testViewsObserveTheModels() async throws {
        let (phone, live) = try await makeFilled()
        let changed = Told(false)
        withObservationTracking {
            _ = live.models
        } onChange: {
            changed.withLock { $0 = true }
        }
        live.edit(Note("a")) { $0.title = "2" }
        await changed.reach("the view is told") { $0 }
        try await settle(live, phone)
    }

    func testItShowsTheStatus() async throws {
        let (phone, live) = try await makeFilled()
        try await phone.engine.start()
        while live.status == .stopped { await Task.yield() }
        await phone.engine.stop()
        while live.status != .stopped { await Task.yield() }
    }

    /// Another user signs in while an edit is on its way.
    func testNothingOfAFormerUserIsShown() async throws {
        let network = cloud.database()
        let phone = Device<Note>(network, clock: clock)
        try await phone.engine.upload(Note("a", "of alice"))
        try await phone.engine.sync()
        let live = LiveModels(phone.engine)
        try await settle(live, phone)
        live.edit(Note("a")) { $0.title = "edited" }
        network.signIn(user: "bob")
        try await phone.engine.sync()
        while !live.models.isEmpty { await Task.yield() }
        try await settle(live, phone)
        XCTAssertEqual(live.models, [:])
    }

    /// The reset arrives while a call of the former user has yet to end.
    func testAResetShowsNoCallsOfAFormerUser() async throws {
        let (phone, live) = try await makeFilled()
        live.add(Note("c"))
        live.take(.reset)
        XCTAssertEqual(live.models, [:])
        live.take(.updated([Note("d")]))
        live.take(.replayed)
        while await !phone.engine.core.isIdle || live.models["c"] == nil { await Task.yield() }
        XCTAssertEqual(Set(live.models.keys), ["c", "d"], "the stream tells what became of the call")
        XCTAssertTrue(live.calls.isEmpty)
    }

    /// The loops do not keep it alive.
    func testItEndsWhenItIsReleased() async throws {
        let phone = makeDevice()
        try await phone.engine.upload(Note("a"))
        var live: LiveModels<Note>? = LiveModels(phone.engine)
        XCTAssertEqual(live?.isLoaded, false)
        await phone.engine.reach("the stream is live") { $0.machine?.delivering.streams.count == 1 }
        weak let released = live
        live = nil
        XCTAssertNil(released)
        await phone.engine.reach("the stream has ended") { $0.machine?.delivering.streams.isEmpty == true }
    }

    /// The stream's first element has yet to arrive.
    func testTheBeginningOfTheStreamTakesNoCallsBack() async throws {
        let phone = makeDevice()
        let live = LiveModels(phone.engine)
        live.add(Note("c", "new"))
        live.take(.reset)
        XCTAssertEqual(live.models["c"]?.title, "new")
        live.take(.replayed)
        XCTAssertEqual(live.models["c"]?.title, "new")
        try await settle(live, phone)
    }

    /// The stream has made no request yet, so it has told nothing.
    func testAStreamThatHasNotBegunHasToldNothing() async throws {
        let phone = makeDevice()
        try await phone.engine.upload(Note("a"))
        let engine = phone.engine
        let (id, changes) = engine.hub.identifiedStream(.live)
        let isTold = Told(false)
        let waiting = Task {
            await engine.waitUntilDelivered(["a"], by: id)
            isTold.withLock { $0 = true }
        }
        for _ in 0..<50 { await engine.waitUntilIdle() }
        XCTAssertFalse(isTold.withLock { $0 })
        let loop = Task {
            for await _ in changes {}
        }
        await waiting.value
        loop.cancel()
        await loop.value
        await engine.waitUntilDelivered(["a"], by: id)
    }

    func testManyEditsAtOnceNeverGoBack() async throws {
        let (phone, live) = try await makeFilled()
        for _ in 0..<500 { live.edit(Note("a")) { $0.count += 1 } }
        var lowest = 500
        while !live.calls.isEmpty {
            await Task.yield()
            lowest = min(lowest, live.models["a"]?.count ?? -1)
        }
        XCTAssertEqual(lowest, 500)
        try await settle(live, phone)
        XCTAssertEqual(live.models["a"]?.count, 500)
    }

    /// "Mark all as read": what waits for the stream is checked at every input of the engine.
    func testEditsOfManyModelsAtOnceWaitForTheStreamTogether() async throws {
        let phone = makeDevice()
        try await phone.engine.upload((0..<500).map { Note("N\($0)") })
        let live = LiveModels(phone.engine)
        try await settle(live, phone)
        for model in live.models.values { live.edit(model) { $0.title = "read" } }
        var most = 0
        while !live.calls.isEmpty { most = max(most, await phone.engine.core.watchers.count) }
        XCTAssertLessThanOrEqual(most, 1)
        try await settle(live, phone)
        XCTAssertEqual(live.models.values.filter { $0.title == "read" }.count, 500)
    }

    func testCallsThatMakeNoSenseChangeNothing() async throws {
        let (phone, live) = try await makeFilled()
        live.edit(Note("unknown", "x")) { $0.title = "2" }
        try await settle(live, phone)
        XCTAssertEqual(live.failure?.code, .recordNotFound)
        live.delete(Note("a"))
        live.add(Note("a", "again"))
        live.edit(Note("a")) { $0.title += "!" }
        XCTAssertEqual(live.models["a"]?.title, "again!")
        try await settle(live, phone)
        XCTAssertEqual(live.models["a"]?.title, "again!")
        live.delete(Note("a"))
        live.edit(Note("a")) { $0.title += "?" }
        try await settle(live, phone)
        XCTAssertNil(live.models["a"])
    }

    func testTwoOfOneEngineShowTheSame() async throws {
        let (phone, live) = try await makeFilled()
        let other = LiveModels(phone.engine)
        XCTAssertEqual(other.models, [:])
        await phone.engine.reach("both follow") { $0.machine?.delivering.streams.count == 2 }
        try await settle(other, phone)
        live.edit(Note("a")) { $0.title = "2" }
        other.edit(Note("a")) { $0.note = "3" }
        live.delete(Note("b"))
        await phone.engine.waitUntilIdle()
        try await settle(live, phone)
        try await settle(other, phone)
        XCTAssertEqual(live.models["a"], Note("a", "2", note: "3"))
    }
}
