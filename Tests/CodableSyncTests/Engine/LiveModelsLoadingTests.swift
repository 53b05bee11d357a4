import Observation
import XCTest

@testable import CodableSync

/// The first list of `LiveModels`.
@MainActor
final class LiveModelsLoadingTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var cloud = FakeCloud(clock: clock)

    private func makePhone(_ count: Int) async throws -> Device<Note> {
        let phone = Device<Note>(cloud.database(), clock: clock)
        try await phone.engine.upload((0..<count).map { Note("N\($0)") })
        return phone
    }

    /// The sizes that a view sees, without repetitions.
    private func sizes(of live: LiveModels<Note>, until isDone: () -> Bool) async -> [Int] {
        var sizes: [Int] = []
        repeat {
            if live.models.count != sizes.last { sizes.append(live.models.count) }
            await Task.yield()
        } while !isDone()
        if live.models.count != sizes.last { sizes.append(live.models.count) }
        return sizes
    }

    /// An element of the stream has at most 200 models.
    func testTheFirstListAppearsAtOnce() async throws {
        let phone = try await makePhone(1000)
        let live = LiveModels(phone.engine)
        XCTAssertFalse(live.isLoaded)
        let sizes = await sizes(of: live) { live.isLoaded }
        XCTAssertEqual(sizes, [0, 1000])
    }

    func testAnEmptyListIsLoadedToo() async throws {
        let live = LiveModels(try await makePhone(0).engine)
        while !live.isLoaded { await Task.yield() }
        XCTAssertEqual(live.models, [:])
    }

    func testCallsShowBeforeTheListIsLoaded() async throws {
        let phone = try await makePhone(1000)
        let live = LiveModels(phone.engine)
        live.add(Note("new"))
        XCTAssertEqual(Array(live.models.keys), ["new"])
        let sizes = await sizes(of: live) { live.isLoaded }
        XCTAssertEqual(sizes, [1, 1001])
        try await live.settle()
    }

    func testTheNextUsersListAppearsAtOnce() async throws {
        let phone = try await makePhone(300)
        let live = LiveModels(phone.engine)
        try await live.settle()
        live.take(.reset)
        XCTAssertFalse(live.isLoaded)
        XCTAssertEqual(live.models, [:])
        live.take(.updated([Note("a")]))
        live.take(.updated([Note("b")]))
        XCTAssertEqual(live.models, [:])
        live.take(.replayed)
        XCTAssertTrue(live.isLoaded)
        XCTAssertEqual(Set(live.models.keys), ["a", "b"])
    }

    /// A view tells SwiftUI to create it again with every update of its parent.
    func testCreatingItStartsNothing() async throws {
        let phone = Device<Note>(cloud.database(), clock: clock)
        let live = LiveModels(phone.engine)
        XCTAssertNil(live.failure)
        await phone.engine.waitUntilIdle()
        let isNew = await phone.engine.core.isNew
        XCTAssertTrue(isNew)
        let unused = (0..<10).map { _ in LiveModels(phone.engine) }
        XCTAssertEqual(live.status, .stopped)
        await phone.engine.reach("the stream is live") { $0.machine?.delivering.streams.count == 1 }
        XCTAssertEqual(live.models, [:])
        await phone.engine.waitUntilIdle()
        let count = await phone.engine.core.streamCount
        XCTAssertEqual(count, 1)
        XCTAssertEqual(unused.count, 10)
    }

    func testViewsObserveWhetherItIsLoaded() async throws {
        let live = LiveModels(try await makePhone(1).engine)
        let changed = Told(false)
        withObservationTracking {
            _ = live.isLoaded
        } onChange: {
            changed.withLock { $0 = true }
        }
        await changed.reach("the view is told") { $0 }
        while !live.isLoaded { await Task.yield() }
    }
}

extension SyncCore {
    /// Whether nothing has opened the state yet.
    fileprivate var isNew: Bool { if case .new = phase { true } else { false } }

    fileprivate var streamCount: Int? { machine?.delivering.streams.count }
}
