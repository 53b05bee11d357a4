import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The journal on disk: reading it back gives the live state.
final class JSONStateStoreTests: XCTestCase {
    private let fileSystem = SimulatedFileSystem()

    private func open() throws -> JSONStateStore.Opened {
        try JSONStateStore.open(directory: "/state", fileSystem: fileSystem)
    }

    /// Stores a record as fetched.
    private func store(_ name: String, _ number: UInt64, in store: JSONStateStore) throws {
        let handle = ContentHandle(number)
        let record = JournalSamples.record(name, "text \(number)")
        try store.append([.fetched(name: name, KnownVersion(number))], [handle: record])
    }

    func testReplayGivesTheLiveState() throws {
        for usesMemory in [false, true] {
            let fileSystem: any FileSystem = usesMemory ? MemoryFileSystem() : SimulatedFileSystem()
            let store = try JSONStateStore.open(directory: "/state", fileSystem: fileSystem).store
            var live = SyncState()
            for entry in JournalSamples.entries {
                // A second owner would be damage.
                let second = [StateChange.claimed(by: ""), .made(for: JournalSamples.identities[1])]
                if second.map(\.description).contains(entry.description) { continue }
                try store.append([entry], to: &live)
            }
            store.close()
            let opened = try JSONStateStore.open(directory: "/state", fileSystem: fileSystem)
            XCTAssertEqual(opened.state.records, live.records)
            XCTAssertEqual(opened.state.zones, live.zones)
            XCTAssertEqual(opened.state.rows, live.rows)
            XCTAssertEqual(opened.state.notes, live.notes)
            XCTAssertEqual(opened.state.sendQueue, live.sendQueue)
            XCTAssertEqual(opened.state.untold, live.untold)
            XCTAssertEqual(opened.state.streams, live.streams)
            XCTAssertFalse(opened.recovery.isDamaged)
        }
    }

    func testContentsAreReadByTheirHandle() throws {
        let live = try open().store
        try store("A", 1, in: live)
        try store("B", 2, in: live)
        for reopened in [live, try open().store] {
            let loaded = try reopened.load([1, 2, 3])
            XCTAssertEqual(loaded[1], JournalSamples.record("A", "text 1"))
            XCTAssertEqual(loaded[2], JournalSamples.record("B", "text 2"))
            XCTAssertNil(loaded[3])
        }
        XCTAssertEqual(try open().nextHandle, 3)
    }

    /// I-07.
    func testCompactionKeepsTheStateAndItsContents() throws {
        let live = try open().store
        try live.append([.followed])
        for number in 1...20 { try store("N\(number % 5)", UInt64(number), in: live) }
        let change = LocalChange(kind: .save(30, size: 1), edited: nil, base: 16)
        try live.append([.queued(name: "N1", change)], [30: JournalSamples.record("N1", "edit")])
        let before = try open().state
        let size = fileSystem.names(in: "/state").compactMap { fileSystem.bytes(at: "/state/\($0)")?.count }
        for round in 0..<3 {
            try live.compact()
            XCTAssertEqual(try live.load([30])[30]?.fields, ["text": .string("edit")], "round \(round)")
            XCTAssertEqual(try live.load([20])[20]?.fields, ["text": .string("text 20")], "round \(round)")
            let opened = try open()
            XCTAssertEqual(opened.state.records, before.records, "round \(round)")
            XCTAssertEqual(opened.state.summary, before.summary, "round \(round)")
            XCTAssertEqual(try opened.store.load([30, 20]).count, 2, "round \(round)")
            XCTAssertEqual(opened.nextHandle, 31, "round \(round)")
        }
        let after = fileSystem.names(in: "/state").compactMap { fileSystem.bytes(at: "/state/\($0)")?.count }
        XCTAssertLessThan(after.reduce(0, +), size.reduce(0, +))
    }

    func testASnapshotHoldsOnlyTheContentsThatTheStateNeeds() throws {
        let live = try open().store
        try store("A", 1, in: live)
        try store("A", 2, in: live)
        try live.compact()
        XCTAssertNil(try live.load([1])[1], "the previous version is no longer needed")
        XCTAssertNotNil(try live.load([2])[2])
    }

    /// It exists nowhere else.
    func testDamageToAParkedEditInASnapshotIsFoundAtTheOpening() throws {
        let live = try open().store
        let edit = LocalChange(kind: .save(1, size: 1), edited: nil, base: nil)
        try live.append([.queued(name: "A", edit)], [1: JournalSamples.record("A", "mine")])
        try live.append([.parked(name: "A", JournalSamples.reasons[1])])
        try live.compact()
        live.close()
        let path = "/state/snapshot-2.jsonl"
        var bytes = try XCTUnwrap(fileSystem.bytes(at: path))
        bytes[try XCTUnwrap(bytes.firstRange(of: Array("mine".utf8))).lowerBound] ^= 1
        fileSystem.place(bytes, at: path)
        XCTAssertEqual(try open().lostEdits, ["A"])
    }

    func testOrderOfTheQueueSurvivesOpening() throws {
        let live = try open().store
        for (number, name) in ["C", "A", "B"].enumerated() {
            let change = LocalChange(
                kind: .save(ContentHandle(UInt64(number)), size: 1),
                edited: nil,
                base: nil
            )
            try live.append([.queued(name: name, change)])
        }
        XCTAssertEqual(Array(try open().state.sendQueue.names), ["C", "A", "B"])
    }

    /// Appends continue while a compaction reads and writes.
    func testAppendsDuringACompactionAreKept() throws {
        let live = try open().store
        for number in 1...200 { try store("N\(number % 50)", UInt64(number), in: live) }
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            for _ in 0..<20 {
                let loaded = try? live.load((151...200).map { ContentHandle(UInt64($0)) })
                if loaded?.count != 50 { XCTFail("contents are missing: \(loaded?.count ?? -1)") }
            }
        }
        for number in 201...230 {
            try store("N\(number)", UInt64(number), in: live)
            if number % 10 == 0 { try live.compact() }
        }
        group.wait()
        let opened = try open()
        XCTAssertEqual(opened.state.knownCount, 80)
        let handles = (201...230).map { ContentHandle(UInt64($0)) }
        XCTAssertEqual(try live.load(handles).count, 30)
        XCTAssertEqual(try opened.store.load(handles).count, 30)
    }

    /// D5: a compaction that fails at any point loses nothing.
    func testAFailedCompactionLosesNothing() throws {
        for operation in [
            FileError.Operation.create, .append, .flush, .rename, .remove, .syncDirectory, .read,
        ] {
            for count in 0..<3 {
                let disk = SimulatedFileSystem()
                let fileSystem = HookedFileSystem(disk)
                let live = try JSONStateStore.open(directory: "/state", fileSystem: fileSystem).store
                for number in 1...5 { try store("N\(number)", UInt64(number), in: live) }
                disk.fail(operation, after: count, code: ENOSPC)
                do { try live.compact() } catch {}
                try disk.withDisk { $0.faults = [] }
                let row = "\(operation) after \(count)"
                let handles = (1...6).map { ContentHandle(UInt64($0)) }
                XCTAssertEqual(try live.load(handles).count, 5, row)
                try store("N6", 6, in: live)
                XCTAssertEqual(try live.load(handles).count, 6, row)
                let opened = try JSONStateStore.open(directory: "/state", fileSystem: fileSystem)
                XCTAssertEqual(opened.state.knownCount, 6, row)
                XCTAssertEqual(try opened.store.load(handles).count, 6, row)
            }
        }
    }

    /// LQ-15, I-03.
    func testFullDiskStoresNothing() throws {
        let live = try open().store
        try store("A", 1, in: live)
        fileSystem.leaveRoom(for: 20)
        XCTAssertThrowsError(try store("B", 2, in: live)) { error in
            guard case .storageFull? = error as? JournalFailure else { return XCTFail("\(error)") }
        }
        fileSystem.leaveRoom(for: nil)
        try store("C", 3, in: live)
        XCTAssertEqual(try open().state.sortedNames, ["A", "C"])
    }

    func testAnEntryOfAnUnknownKindIsRejectedAsNewer() throws {
        let (log, _) = try JSONLog.open(
            directory: "/state",
            fileSystem: fileSystem,
            format: "codablesync-state",
            version: JSONStateStore.version
        ) { _, _ in }
        try log.commit(LogFixture.group([#"{"invented":true}"#]), flush: true)
        XCTAssertThrowsError(try open()) { error in
            XCTAssertEqual((error as? NewerEntry)?.kind, "invented")
        }
    }

    func testTheIndexKeepsEntriesAddedDuringACompaction() {
        func position(_ offset: UInt64) -> LogPosition { LogPosition(file: 1, offset: offset, length: 1) }
        func places(_ offsets: [ContentHandle: UInt64]) -> SnapshotPlaces {
            let places = offsets.map { JournalLine.Place(handle: $0, offset: $1, length: 1) }
            return SnapshotPlaces(places, behind: LogPosition(file: 1, offset: 0, length: 0))
        }
        var index = ContentIndex([1: position(1), 2: position(2)])
        let frozen = index.freeze()
        index[3] = position(3)
        index[1] = position(10)
        index.replace(frozenAt: frozen, by: places([1: 100]))
        XCTAssertEqual(index[1], position(10))
        XCTAssertNil(index[2])
        XCTAssertEqual(index[3], position(3))
        let again = index.freeze()
        index.replace(frozenAt: again, by: places([3: 30]))
        XCTAssertNil(index[1])
        XCTAssertEqual(index[3], position(30))
    }
}
