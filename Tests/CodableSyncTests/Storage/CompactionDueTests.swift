import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// When files are compacted: depending on their contents, not on how often they were opened.
final class CompactionDueTests: XCTestCase {
    private let disk = SimulatedFileSystem()

    private func open() throws -> JSONStateStore {
        try JSONStateStore.open(directory: "/state", fileSystem: disk, compactionSize: 8000).store
    }

    private var size: Int { disk.files.values.reduce(0) { $0 + $1.count } }

    private func put(_ number: UInt64, name: String = "a", in store: JSONStateStore) throws {
        let record = JournalSamples.record(name, String(repeating: "x", count: 1000))
        let entry = StateChange.fetched(name: name, KnownVersion(number))
        try store.append([entry], [ContentHandle(number): record])
    }

    func testGrowthIsCountedAcrossRestarts() throws {
        for number in 1...60 {
            let store = try open()
            try put(UInt64(number), in: store)
            store.compactIfDue { XCTFail("\($0)") }
            store.close()
            XCTAssertLessThan(size, 12_000, "opening \(number)")
        }
        let store = try open()
        XCTAssertEqual(try store.load([60]).count, 1)
        store.close()
    }

    func testAStateWithoutObsoleteDataIsNotCompactedAtEachOpening() throws {
        for number in 1...40 {
            let store = try open()
            try put(UInt64(number), name: "n\(number)", in: store)
            store.compactIfDue { XCTFail("\($0)") }
            store.close()
        }
        let snapshots = Set(disk.calls.filter { $0.kind == .rename && $0.path.contains("snapshot") }).count
        XCTAssertTrue((1...4).contains(snapshots), "\(snapshots)")
    }

    func testAFailedCompactionIsRetriedAfterMoreGrowthAndAtTheNextOpening() throws {
        let tries = Locked(0)
        let files = HookedFileSystem(disk)
        files.before { operation, path throws(FileError) in
            guard operation == .rename, path.contains("snapshot") else { return }
            tries.withLock { $0 += 1 }
            throw FileError(operation, path, code: ENOSPC)
        }
        let store = try JSONStateStore.open(directory: "/state", fileSystem: files, compactionSize: 8000)
            .store
        for number in 1...40 {
            try put(UInt64(number), in: store)
            store.compactIfDue { _ in }
        }
        store.close()
        let inOneOpening = tries.withLock { $0 }
        XCTAssertTrue((1...4).contains(inOneOpening), "\(inOneOpening)")
        let next = try open()
        next.compactIfDue { XCTFail("\($0)") }
        next.close()
        XCTAssertLessThan(size, 4000)
    }

    /// An engine compacts an oversized state when it opens it, even if it appends nothing itself.
    func testAnEngineCompactsTheOversizedStateOfAKilledProcess() async throws {
        let cloud = FakeCloud()
        let first = Device<Note>(cloud.database(user: "alice"), files: disk)
        for number in 1...20 {
            try await first.engine.upload(Note("a", "\(number)", note: String(repeating: "x", count: 1000)))
        }
        let killed = disk.killed()
        let before = killed.files.values.reduce(0) { $0 + $1.count }
        let files = HeldFileSystem(killed)
        let hold = files.hold(.read, "journal-1")
        hold.release()
        let next = Device<Note>(cloud.database(user: "alice"), files: files) { $0.compactionSize = 8000 }
        let pending = try await next.engine.pendingChanges().map(\.recordName)
        XCTAssertEqual(pending, ["a"])
        try await next.engine.close()
        XCTAssertLessThan(killed.files.values.reduce(0) { $0 + $1.count }, before / 4)
        try await first.engine.close()
    }

    func testOpeningDoesNotWaitForACompaction() async throws {
        let cloud = FakeCloud()
        let first = Device<Note>(cloud.database(user: "alice"), files: disk)
        for number in 1...20 {
            try await first.engine.upload(Note("a", "\(number)", note: String(repeating: "x", count: 1000)))
        }
        try await first.engine.close()
        let files = HeldFileSystem(disk)
        let next = Device<Note>(cloud.database(user: "alice"), files: files) { $0.compactionSize = 8000 }
        let hold = files.hold(.flush, "snapshot")
        try await next.engine.upload(Note("b", "during it"))
        await hold.reached()
        try await next.engine.upload(Note("c", "during it"))
        hold.release()
        try await next.engine.close()
        XCTAssertNotNil(disk.bytes(at: "/device/users/1/snapshot-2.jsonl"))
    }

    func testGrowthOfALedgerIsCountedAcrossRestarts() async throws {
        for number in 1...60 {
            let directory = LedgerDirectoryFixture.directory(disk, compactionSize: 8000)
            let text = "\(number)" + String(repeating: "x", count: 1000)
            try await LedgerDirectoryFixture.save("a", text: text, in: directory)
            await directory.close()
            // Each opening adds an epoch to what a snapshot holds.
            XCTAssertLessThan(size, 32_000, "opening \(number)")
        }
    }
}
