import Foundation
import XCTest

@testable import CodableSync

/// An engine that ends as if its process had been killed.
final class SimulatedCrashTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var cloud = FakeCloud(clock: clock)
    private let files = HeldFileSystem(MemoryFileSystem())

    private func engine(on network: FakeDatabase? = nil) -> SyncEngine<Note> {
        var configuration = SyncConfiguration()
        configuration.clock = clock
        configuration.automaticallySyncs = false
        configuration.storage = .directory(URL(fileURLWithPath: "/device"))
        configuration.fileSystem = files
        return SyncEngine(database: network ?? cloud.database(), configuration: configuration)
    }

    func testAnAcknowledgedUploadSurvivesACrash() async throws {
        let before = engine()
        try await before.upload(Note("a", "x"))
        await before.simulateCrash()
        let after = engine()
        let pending = try await after.pendingChanges()
        XCTAssertEqual(pending.map(\.client), [Note("a", "x")])
    }

    func testTheDirectoryIsFreeImmediatelyAfterACrash() async throws {
        let temporary = try TemporaryDirectory()
        addTeardownBlock { try temporary.remove() }
        var configuration = SyncConfiguration()
        configuration.storage = .directory(temporary.url)
        configuration.automaticallySyncs = false
        for round in 0..<3 {
            let engine = SyncEngine<Note>(database: cloud.database(), configuration: configuration)
            try await engine.upload(Note("\(round)"))
            let names = try await engine.allModels().map(\.id)
            XCTAssertEqual(names.count, round + 1)
            await engine.simulateCrash()
        }
    }

    func testQueuedWritesAreLostInACrash() async throws {
        let before = engine()
        try await before.upload(Note("a"))
        let held = files.hold(.flush)
        let first = Task { try await before.upload(Note("b")) }
        await held.reached()
        let second = Task { try await before.upload(Note("c")) }
        while await before.core.lastCall < 3 { await Task.yield() }
        let crash = Task { await before.simulateCrash() }
        while await !before.core.isClosing { await Task.yield() }
        held.release()
        await crash.value
        for call in [first, second] {
            do {
                try await call.value
                XCTFail("The upload was acknowledged.")
            } catch let error as SyncError where error.code == .closed {}
        }
        let names = try await engine().allModels().map(\.id)
        XCTAssertFalse(names.contains("c"), "\(names)")
        XCTAssertTrue(names.contains("a"), "\(names)")
    }

    func testAnElementBeingHandledIsDeliveredAgainAfterACrash() async throws {
        let network = cloud.database()
        try cloud.createZone(ZoneID(zoneName: "Item"))
        try cloud.put(try RecordEncoder().encode(Note("a", "x"), zoneID: ZoneID(zoneName: "Item")))
        let before = engine(on: network)
        try await before.sync()
        var changes = before.changes.makeAsyncIterator()
        let first = await changes.next()
        XCTAssertEqual(first, .updated([Note("a", "x")]))
        await before.simulateCrash()
        let end = await changes.next()
        XCTAssertNil(end)
        let after = engine(on: network)
        var again = after.changes.makeAsyncIterator()
        let second = await again.next()
        XCTAssertEqual(second, .updated([Note("a", "x")]))
        try await after.close()
    }

    func testARequestInFlightIsAbandonedAndItsCallEnds() async throws {
        let network = cloud.database()
        let before = engine(on: network)
        try await before.upload(Note("a", "x"))
        let held = FakeHold()
        network.on(.modifyRecords, .hold(held, afterApplying: true))
        let sync = Task { try await before.sync() }
        await held.arrived()
        await before.simulateCrash()
        do {
            _ = try await sync.value
            XCTFail("The sync succeeded.")
        } catch let error as SyncError where error.code == .closed {}
        XCTAssertEqual(try cloud.models(Note.self, inZoneNamed: "Item"), [Note("a", "x")])
        let summary = try await engine(on: network).sync()
        XCTAssertEqual(summary.conflictsResolved, 0)
        XCTAssertEqual(summary.pending, 0)
    }

    func testCallsAfterACrashThrowAndAnotherCrashOrCloseHasNoEffect() async throws {
        let engine = engine()
        try await engine.upload(Note("a"))
        await engine.simulateCrash()
        await engine.simulateCrash()
        try await engine.close()
        do {
            try await engine.upload(Note("b"))
            XCTFail("The upload was accepted.")
        } catch let error as SyncError where error.code == .closed {}
    }
}

extension SyncCore {
    fileprivate var isClosing: Bool { closing != nil }
}
