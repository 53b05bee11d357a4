import Foundation
import XCTest

@testable import CodableSync

/// An engine that is closed, released or switches users during a compaction.
final class EngineCompactionTests: AccountScenario {
    private let disk = SimulatedFileSystem()

    /// Uploads until a compaction is held while it reads the journal.
    private func beginCompaction(
        _ engine: SyncEngine<Note>,
        _ files: HeldFileSystem,
        _ directory: String = "journal-1"
    ) async throws -> FileHold {
        try await engine.upload(Note("n0", "small"))
        let hold = files.hold(.read, directory)
        for number in 1...20 {
            try await engine.upload(Note("n\(number)", note: String(repeating: "x", count: 1000)))
        }
        await hold.reached()
        return hold
    }

    private func makeDevice(on files: any FileSystem) throws -> Device<Note> {
        try makeDevice(Note.self) {
            $0.fileSystem = files
            $0.compactionSize = 8000
        }
    }

    private func assertWhole(_ names: [String], line: UInt = #line) async throws {
        XCTAssertFalse(disk.names(in: "/device/users/1").contains { $0.hasSuffix(".tmp") }, line: line)
        let next = try makeDevice(on: disk)
        let shown = try await next.engine.allModels().map(\.recordName)
        XCTAssertEqual(Set(shown), Set(names), line: line)
        XCTAssertEqual(
            next.events.count { if case .stateRecovered = $0 { true } else { false } },
            0,
            line: line
        )
        try await next.engine.close()
    }

    private let names = (0...20).map { "n\($0)" }

    func testClosingDuringACompactionLosesNothing() async throws {
        let files = HeldFileSystem(disk)
        let phone = try makeDevice(on: files)
        let hold = try await beginCompaction(phone.engine, files)
        let engine = phone.engine
        let isClosed = Locked(false)
        let closing = Task {
            try await engine.close()
            isClosed.withLock { $0 = true }
        }
        // Calls throw from the moment that closing begins.
        while (try? await engine.diagnostics()) != nil { await Task.yield() }
        for _ in 0..<1000 { await Task.yield() }
        XCTAssertFalse(isClosed.withLock { $0 }, "the compaction is still running")
        hold.release()
        try await closing.value
        XCTAssertFalse(phone.hasToldOfCompaction)
        try await assertWhole(names)
    }

    func testTheNextEngineWaitsForTheCompactionOfAReleasedEngine() async throws {
        let files = HeldFileSystem(disk)
        var phone: Device<Note>? = try makeDevice(on: files)
        let configuration = try XCTUnwrap(phone).configuration
        let database = try XCTUnwrap(phone).database
        let hold = try await beginCompaction(XCTUnwrap(phone).engine, files)
        phone = nil
        let next = SyncEngine<Note>(database: database, configuration: configuration)
        let reading = Task { try await next.allModels().map(\.recordName) }
        hold.release()
        let shown = try await reading.value
        XCTAssertEqual(Set(shown), Set(names))
        try await next.close()
        try await assertWhole(names)
    }

    func testSwitchingUsersDuringACompactionLosesNothing() async throws {
        let files = HeldFileSystem(disk)
        let phone = try await makeDeviceOfAlice(on: files) { $0.compactionSize = 8000 }
        let hold = try await beginCompaction(phone.engine, files)
        phone.account.signIn("bob")
        let engine = phone.engine
        let switching = Task { try await engine.sync() }
        hold.release()
        _ = try await switching.value
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let alice = try await phone.shown()
        XCTAssertEqual(Set(alice), Set(names + ["a-1", "a-2"]))
        XCTAssertFalse(phone.device.hasToldOfCompaction)
        try await phone.engine.close()
    }

    func testAFormerUsersRecordsAreRemovedEvenDuringACompaction() async throws {
        let files = HeldFileSystem(disk)
        let phone = try await makeDeviceOfAlice(on: files) {
            $0.compactionSize = 8000
            $0.onSignOut = .remove
        }
        let hold = try await beginCompaction(phone.engine, files)
        phone.account.signIn("bob")
        let engine = phone.engine
        let switching = Task { try await engine.sync() }
        hold.release()
        _ = try await switching.value
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
        let texts = disk.files.values.map { String(decoding: $0, as: UTF8.self) }
        XCTAssertFalse(texts.contains { $0.contains("of alice") })
        try await phone.engine.close()
    }
}
