import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// A power loss removes no directory that contains acknowledged data, even if another process created it.
final class DirectoryDurabilityTests: XCTestCase {
    /// Kills a process before each of its calls in turn; the next process repeats the work, and then the
    /// power is lost.
    private func afterEachKill(
        _ work: (SimulatedFileSystem) async throws -> Void,
        _ check: (SimulatedFileSystem, String) async throws -> Void
    ) async throws {
        var call = 0
        var isKilled = true
        while isKilled {
            let first = SimulatedFileSystem()
            first.powerOff(at: call, .before)
            do { try await work(first) } catch {}
            isKilled = first.isOff
            let second = first.killed()
            try await work(second)
            try await check(second.crashed(keeping: .onlySynced), "killed before call \(call)")
            call += 1
        }
        XCTAssertGreaterThan(call, 4)
    }

    func testFilesInNewDirectoriesSurvive() async throws {
        try await afterEachKill { disk in
            try disk.createDirectory(at: "/a/b/c")
            try disk.writeAtomically([1], to: "/a/b/c/file")
        } _: { disk, row in
            XCTAssertEqual(disk.bytes(at: "/a/b/c/file"), [1], row)
        }
    }

    func testANewDirectoryInAnExistingOneSurvives() async throws {
        try await afterEachKill { disk in
            try disk.createDirectory(at: "/a")
            try disk.createDirectory(at: "/a/b/c")
            try disk.writeAtomically([1], to: "/a/b/c/file")
        } _: { disk, row in
            XCTAssertEqual(disk.bytes(at: "/a/b/c/file"), [1], row)
        }
    }

    func testEntriesOfAStateStoreSurvive() async throws {
        try await afterEachKill { disk in
            let store = try JSONStateStore.open(directory: "/deep/state/users/1", fileSystem: disk).store
            defer { store.close() }
            try store.append([.subscribed])
        } _: { disk, row in
            let opened = try JSONStateStore.open(directory: "/deep/state/users/1", fileSystem: disk)
            XCTAssertTrue(opened.state.onlyZone.isSubscribed, row)
        }
    }

    func testAnAcknowledgedUploadSurvivesInANewDirectory() async throws {
        let cloud = FakeCloud()
        try await afterEachKill { disk in
            let device = Self.device(cloud, disk)
            do {
                try await device.engine.upload(Note("a", "Tea"))
            } catch {
                try await device.engine.close()
                throw error
            }
            try await device.engine.close()
        } _: { disk, row in
            let device = Self.device(cloud, disk)
            let pending = try await device.engine.pendingChanges().map(\.recordName)
            XCTAssertEqual(pending, ["a"], row)
            try await device.engine.close()
        }
    }

    func testAnAcknowledgedSaveInALocalDatabaseSurvives() async throws {
        try await afterEachKill { disk in
            let database = Self.database(disk)
            do {
                try await LedgerDirectoryFixture.save("a", in: database.ledger)
            } catch {
                await database.close()
                throw error
            }
            await database.close()
        } _: { disk, row in
            let database = Self.database(disk)
            let names = try await LedgerDirectoryFixture.names(in: database.ledger)
            XCTAssertEqual(names, ["a"], row)
            await database.close()
        }
    }

    private static func database(_ disk: SimulatedFileSystem) -> LocalDatabase {
        LocalDatabase(
            directory: URL(filePath: "/deep/cloud"),
            user: "alice",
            fileSystem: disk,
            clock: StoppedClock()
        )
    }

    private static func device(_ cloud: FakeCloud, _ disk: SimulatedFileSystem) -> Device<Note> {
        Device(cloud.database(user: "alice"), files: disk) {
            $0.storage = .directory(URL(filePath: "/deep/device"))
        }
    }

    /// An existing directory was flushed when it was created, so its parent need not be opened.
    func testAnExistingDirectoryDoesNotNeedAFlushableParent() throws {
        for code in [EACCES, EINVAL] {
            let files = HookedFileSystem()
            try files.createDirectory(at: "/a/b")
            files.before { operation, path throws(FileError) in
                if operation == .syncDirectory { throw FileError(operation, path, code: code) }
            }
            XCTAssertNoThrow(try files.createDirectory(at: "/a/b"))
            XCTAssertThrowsError(try files.createDirectory(at: "/a/c"), "a new directory must survive")
        }
    }
}
