import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// A store that is closed during a compaction, or whose lines become unreadable, loses nothing.
final class StoreClosingTests: XCTestCase {
    private let state = "/state"

    private func open(
        _ fileSystem: any FileSystem,
        _ directory: String = "/state"
    ) throws -> JSONStateStore.Opened {
        try JSONStateStore.open(directory: directory, fileSystem: fileSystem, compactionSize: 1000)
    }

    /// Appends one line per edit.
    private func fill(_ store: JSONStateStore, _ numbers: ClosedRange<UInt64>, size: Int = 200) throws {
        for number in numbers {
            let handle = ContentHandle(number)
            let change = LocalChange(kind: .save(handle, size: size), edited: nil, base: nil)
            let record = JournalSamples.record("n\(number)", String(repeating: "x", count: size))
            try store.append([.queued(name: "n\(number)", change)], [handle: record])
        }
    }

    private func assertHolds(
        _ numbers: ClosedRange<UInt64>,
        _ opened: JSONStateStore.Opened,
        _ row: String = "",
        line: UInt = #line
    ) throws {
        defer { opened.store.close() }
        XCTAssertEqual(opened.state.pendingCount, numbers.count, row, line: line)
        let handles = numbers.map { ContentHandle($0) }
        XCTAssertEqual(try opened.store.load(handles).count, numbers.count, row, line: line)
        XCTAssertFalse(opened.recovery.isDamaged, row, line: line)
    }

    func testClosingWaitsForACompaction() async throws {
        let disk = SimulatedFileSystem()
        let files = HeldFileSystem(disk)
        let store = try open(files).store
        try fill(store, 1...20)
        let failures = Locked<[String]>([])
        let hold = files.hold(.read, "journal-1")
        store.compactIfDue { error in failures.withLock { $0.append("\(error)") } }
        await hold.reached()
        let (hasBegun, isClosed) = (Told(false), Locked(false))
        let closing = Task.detached {
            hasBegun.withLock { $0 = true }
            store.close()
            isClosed.withLock { $0 = true }
        }
        await hasBegun.reach("the call to close") { $0 }
        for _ in 0..<1000 { await Task.yield() }
        XCTAssertFalse(isClosed.withLock { $0 }, "the compaction is still running")
        XCTAssertEqual(try store.load([1]).count, 1, "the files are still open")
        hold.release()
        await closing.value
        XCTAssertEqual(disk.names(in: state), ["journal-2.jsonl", "snapshot-2.jsonl"])
        XCTAssertEqual(failures.withLock { $0 }, [])
        try assertHolds(1...20, open(disk))
    }

    /// The descriptors of closed files are reused for the next ones.
    func testClosingDuringACompactionLosesNothingOnTheRealDisk() throws {
        let temporary = try TemporaryDirectory()
        defer { XCTAssertNoThrow(try temporary.remove()) }
        for round in 0..<6 {
            let directory = temporary.path.appending(path: "\(round)")
            let store = try open(LocalFileSystem(), directory).store
            try fill(store, 1...40, size: 20_000)
            store.compactIfDue { _ in }
            store.close()
            let others = try (0..<4).map {
                try LocalFileSystem().openFile(at: "\(directory)-\($0)", for: .replacing)
            }
            // A compaction that was still running would finish before this much is written.
            for other in others { try other.append([UInt8](repeating: 32, count: 1 << 20)) }
            try assertHolds(1...40, open(LocalFileSystem(), directory), "round \(round)")
            for other in others { other.close() }
        }
    }

    func testAClosedStoreReadsNothing() throws {
        let store = try open(MemoryFileSystem()).store
        try fill(store, 1...1)
        store.close()
        XCTAssertThrowsError(try store.load([1])) { error in
            XCTAssertEqual(error as? JournalFailure, .unreadable("The state is closed."))
        }
    }

    // MARK: Unreadable lines

    private var journal: String { state + "/journal-1.jsonl" }

    /// The journal with the row of one group replaced by a malformed one of the same length, with a valid checksum.
    private func bytes(replacing number: Int, in bytes: [UInt8]) throws -> [UInt8] {
        var lines = bytes.split(separator: newline, omittingEmptySubsequences: false).map(Array.init)
        let index = 1 + 3 * (number - 1)
        var group = LogGroup()
        try group.append(Array(("\"" + String(repeating: "?", count: lines[index].count - 2) + "\"").utf8))
        try group.append(lines[index + 1])
        let replaced = (group.bytes + LogMarks.commit(group.commitMark)).split(separator: newline)
        lines.replaceSubrange(index...index + 2, with: replaced.map(Array.init))
        return Array(lines.joined(separator: [newline]))
    }

    /// They are copied as they are, and each line has a checksum of its own.
    func testContentsThatBecomeUnreadableAreReportedWhenTheyAreRead() throws {
        let disk = SimulatedFileSystem()
        let store = try open(disk).store
        try fill(store, 1...5)
        let before = try XCTUnwrap(disk.bytes(at: journal))
        let place = try XCTUnwrap(before.firstRange(of: Array("[3,\"".utf8))).upperBound + 100
        try disk.withDisk { $0.files[journal]?.change(.write([before[place] ^ 1], at: place)) }
        for _ in 0..<2 {
            let loaded = try store.load([1, 2, 3, 4, 5])
            XCTAssertEqual(loaded.records.keys.sorted(), [1, 2, 4, 5])
            XCTAssertEqual(
                loaded.unreadable,
                [3: "The stored contents cannot be read: the checksum of the contents does not hold"]
            )
            try store.compact()
        }
        store.close()
        let snapshot = try XCTUnwrap(disk.names(in: state).first { $0.hasPrefix("snapshot") })
        let bytes = try XCTUnwrap(disk.bytes(at: "\(state)/\(snapshot)"))
        // Edits exist nowhere else, so they are checked when the files are opened.
        let opened = try open(disk)
        XCTAssertEqual(opened.recovery.damages.map(\.file), [snapshot])
        XCTAssertEqual(opened.lostEdits, ["n3"])
        let copy = try XCTUnwrap(opened.recovery.damages.first?.copy)
        XCTAssertEqual(disk.bytes(at: "\(state)/\(copy)"), bytes)
        var repaired = opened.state
        for row in opened.repairs { repaired.apply(row: row) }
        XCTAssertEqual(repaired.sortedNames, ["n1", "n2", "n4", "n5"])
        XCTAssertEqual(try opened.store.load([1, 2, 4, 5]).count, 4)
        opened.store.close()
    }

    func testACompactionLeavesOutALineReportedAtOpening() throws {
        let disk = SimulatedFileSystem()
        let first = try open(disk).store
        try fill(first, 1...5)
        first.close()
        disk.place(try bytes(replacing: 3, in: try XCTUnwrap(disk.bytes(at: journal))), at: journal)
        let opened = try open(disk)
        XCTAssertEqual(opened.recovery.damages.map(\.reason), [.contents])
        try opened.store.compact()
        opened.store.close()
        let again = try open(disk)
        XCTAssertEqual(again.state.sortedNames, ["n1", "n2", "n4", "n5"])
        XCTAssertFalse(again.recovery.isDamaged)
        again.store.close()
    }
}
