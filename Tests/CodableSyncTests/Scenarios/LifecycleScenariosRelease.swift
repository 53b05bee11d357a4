import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group L: releasing engines, several engines at once, and a clock that goes back.
class LifecycleScenariosRelease: EngineScenario {
    /// The state of an engine when its last reference is released.
    private enum Moment: CaseIterable {
        case pending, requestInFlight, loopWaiting, uploadUnderWay, waiting, opening
    }

    // LC-03, P4
    func testAReleasedEngineFreesItsDirectoryAndKeepsPendingChanges() async throws {
        for moment in Moment.allCases {
            let zone = "Zone\(moment)"
            let files = MemoryFileSystem()
            var phone: Device<Note>? = try makeDevice(Note.self) {
                $0.automaticallySyncs = moment != .pending
                $0.zoneName = zone
                $0.fileSystem = files
            }
            var configuration = try XCTUnwrap(phone).configuration
            // The next engine sends nothing before its pending changes are read.
            configuration.automaticallySyncs = false
            let database = try XCTUnwrap(phone).database
            weak let engine = phone?.engine.core
            weak let resources = phone?.engine.core.resources
            let gate = Gate()
            let loop = try await begin(moment, XCTUnwrap(phone), gate)
            let end = phone?.engine.watchEnd()
            phone = nil
            await end?.value
            XCTAssertNil(engine, "\(moment)")
            XCTAssertNil(resources, "\(moment)")
            _ = await loop?.value

            // Immediately: the next engine does not wait for a request that may still be in flight.
            let next = SyncEngine<Note>(database: database, configuration: configuration)
            let pending = try await whenFree { try await next.pendingChanges() }.map(\.recordName)
            if moment == .opening {
                XCTAssertTrue(Set(["a"]).isSuperset(of: pending))
            } else {
                XCTAssertEqual(pending, ["a"], "\(moment)")
            }
            gate.open()
            database.clearPlans()
            database.failAlways(.modify, nil)
            try await next.upload(Note("a", "mine"))
            try await next.sync()
            let server = try await serverRecords(zone)
            XCTAssertEqual(server["a"]?.fields["title"], "mine", "\(moment)")
            try await next.close()
        }
    }

    /// Brings an engine to a state; the returned task ends with the engine.
    private func begin(_ moment: Moment, _ phone: Device<Note>, _ gate: Gate) async throws -> Task<
        Void, Never
    >? {
        switch moment {
        case .pending:
            try await phone.engine.upload(Note("a", "mine"))
        case .requestInFlight:
            phone.database.plan(.modify, .holdBefore(gate))
            try await phone.engine.upload(Note("a", "mine"))
            await gate.reached()
        case .loopWaiting:
            phone.database.failAlways(.modify, CloudError(.networkFailure))
            try await phone.engine.upload(Note("a", "mine"))
            let (changes, events) = (phone.engine.changes, phone.engine.events)
            return Task {
                for await _ in changes {}
                for await _ in events {}
            }
        case .uploadUnderWay:
            phone.database.failAlways(.modify, CloudError(.networkFailure))
            let engine = phone.engine
            // Only this call keeps the engine alive while it waits for the disk.
            return Task { try? await engine.upload(Note("a", "mine")) }
        case .waiting:
            phone.database.failAlways(.modify, CloudError(.requestRateLimited))
            try await phone.engine.upload(Note("a", "mine"))
            try await quiet(phone)
            XCTAssertGreaterThan(phone.engine.core.resources.counts.sleeps, 0)
        case .opening:
            let engine = phone.engine
            return Task { try? await engine.upload(Note("a", "mine")) }
        }
        return nil
    }

    // P-46
    func testReleasingObjectsInAnyOrderDoesNotTrap() async throws {
        for order in 0..<6 {
            var cloud: FakeCloud? = FakeCloud()
            var database = cloud?.database()
            var clock: ManualClock? = ManualClock()
            let held = FakeHold()
            database?.on(.modifyRecords, .hold(held))
            var configuration = SyncConfiguration()
            configuration.clock = try XCTUnwrap(clock)
            configuration.sendDelay = .zero
            var engine: SyncEngine<Note>? = SyncEngine(
                database: try XCTUnwrap(database),
                configuration: configuration
            )
            configuration = SyncConfiguration()
            var changes = engine?.changes
            var iterator = changes?.makeAsyncIterator()
            var events = engine?.events
            try await engine?.upload(Note("a"))
            await held.arrived()
            if order % 2 == 0 { engine = nil }
            if order % 3 == 0 { (changes, iterator, events) = (nil, nil, nil) }
            (cloud, clock, database) = (nil, nil, nil)
            if order < 3 { held.release() }
            engine = nil
            (changes, events) = (nil, nil)
            // Iterators that outlive the engine end.
            if var left = iterator {
                var count = 0
                while await left.next() != nil { count += 1 }
                XCTAssertLessThanOrEqual(count, 1)
            }
            iterator = nil
            XCTAssertNil(cloud)
            _ = (changes, events, clock, database)
        }
    }

    /// One of many models, each in its own zone.
    private struct Part: RecordCodable, Equatable {
        static var recordType: String { "Part" }
        var id: String
        var text = ""
        var recordName: String { id }
        static func resolveConflict(_ conflict: Conflict<Part>) throws -> Part? { try conflict.merged() }
    }

    // LC-05: twenty engines share one database object, as in an app with twenty models.
    func testTwentyEnginesOnOneDatabaseDoNotInterfere() async throws {
        let database = try makeDevice(Part.self).database
        func makeEngine(_ number: Int, _ device: Int) -> SyncEngine<Part> {
            var configuration = SyncConfiguration()
            configuration.storage = .directory(URL(fileURLWithPath: "/device\(device)/\(number)"))
            configuration.fileSystem = MemoryFileSystem()
            configuration.clock = clock
            configuration.sendDelay = .zero
            configuration.zoneName = "Part\(number)"
            configuration.automaticallySyncs = number % 2 == 0
            return SyncEngine(database: database, configuration: configuration)
        }
        let phones = (0..<20).map { makeEngine($0, 0) }
        let tablets = (0..<20).map { makeEngine($0, 1) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, engine) in (phones + tablets).enumerated() {
                group.addTask {
                    for round in 0..<2 {
                        try await engine.upload([
                            Part(id: "own-\(number)-\(round)"),
                            Part(id: "same", text: "\(number)"),
                        ])
                        try await engine.sync()
                    }
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<20 {
            let (phone, tablet) = (phones[number], tablets[number])
            for _ in 0..<3 {
                try await phone.sync()
                try await tablet.sync()
            }
            let names = try await serverRecords("Part\(number)").keys.sorted()
            let expected = (0..<2).flatMap { ["own-\(number)-\($0)", "own-\(number + 20)-\($0)"] } + ["same"]
            XCTAssertEqual(names, expected.sorted(), "zone \(number)")
            let (first, second) = (try await phone.allModels(), try await tablet.allModels())
            XCTAssertEqual(first, second, "zone \(number)")
            XCTAssertEqual(first.map(\.id), names, "zone \(number)")
            try await phone.close()
            try await tablet.close()
        }
    }

    // G7, T1, I-36
    func testAClockThatGoesBackIsTolerated() async throws {
        let base = BackwardClock(clock)
        let phone = try makeDevice(Note.self) {
            $0.automaticallySyncs = true
            $0.clock = base
        }
        try await phone.engine.sync()
        clock.advance(by: .seconds(5000))
        phone.database.failNext(.modify, .requestRateLimited, retryAfter: .seconds(30))
        try await phone.engine.upload(Note("a"))
        try await quiet(phone)
        let status = try await phone.engine.diagnostics().status
        XCTAssertTrue(status.isServerWait, "\(status)")
        let before = phone.database.totalCount
        for _ in 0..<10 {
            base.goBack(by: .seconds(400))
            clock.advance(by: .seconds(2))
            _ = await phone.beginSync().result
        }
        XCTAssertEqual(phone.database.totalCount, before, "not within the wait")
        clock.advance(by: .seconds(30))
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a"])
        try await phone.engine.close()
    }

    func testASteadyClockNeverGoesBackAndSkipsNoTime() {
        let base = BackwardClock(clock)
        let steady = SteadyClock(base)
        let begin = steady.now.monotonic
        clock.advance(by: .seconds(10))
        XCTAssertEqual(steady.now.monotonic, begin + .seconds(10))
        base.goBack(by: .seconds(100))
        XCTAssertEqual(steady.now.monotonic, begin + .seconds(10))
        clock.advance(by: .seconds(5))
        XCTAssertEqual(steady.now.monotonic, begin + .seconds(15))
    }
}

extension SyncStatus {
    fileprivate var isServerWait: Bool { if case .waiting = self { true } else { false } }
}

/// A clock that can go back.
private final class BackwardClock: SyncClock {
    private let base: ManualClock
    private let offset = Locked(Duration.zero)

    init(_ base: ManualClock) {
        self.base = base
    }

    func goBack(by duration: Duration) {
        offset.withLock { $0 -= duration }
    }

    var now: Moment {
        var moment = base.now
        moment.monotonic += offset.withLock { $0 }
        return moment
    }

    func sleep(until instant: Duration) async throws {
        try await base.sleep(until: instant - offset.withLock { $0 })
    }
}
