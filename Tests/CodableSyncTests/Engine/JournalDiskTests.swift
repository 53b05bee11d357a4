import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The journal's lane to the disk, without an engine.
final class JournalDiskTests: XCTestCase {
    private let files = HookedFileSystem(MemoryFileSystem())
    private var directory: StateDirectory?

    /// A lane on new files, and a function that stores one entry with it.
    private func makeLane() throws -> (lane: JournalDisk, store: (JournalEntry, Record?) async -> Void) {
        let identity = StateIdentity(
            cloud: "fake",
            scope: "private",
            container: nil,
            zone: "Item",
            recordType: "Item"
        )
        let directory = try StateDirectory(path: "/device", identity: identity, fileSystem: files)
        self.directory = directory
        let opened = try JSONStateStore.open(directory: "/device/users/1", fileSystem: files)
        let (outcomes, continuation) = AsyncStream.makeStream(of: JournalDisk.Outcome.self)
        let lane = JournalDisk(store: opened.store, outcomes: continuation, directory: directory)
        let last = Locked<BatchID>(0)
        return (
            lane,
            { entry, record in
                let batch = last.withLock { last in
                    last += 1
                    return last
                }
                let contents = record.map { [ContentHandle(1): $0] } ?? [:]
                lane.append(JournalBatch(batch: batch, entries: [entry], contents: contents, flush: true))
                _ = await outcomes.first { outcome in
                    if case .stored(batch, _) = outcome { true } else { false }
                }
            }
        )
    }

    private func makeRecord() -> Record {
        Record(
            recordType: "Item",
            recordID: RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Item")),
            fields: ["title": "of the former user"]
        )
    }

    private var text: String {
        get throws {
            let directory = "/device/users/1"
            let names = try files.contents(ofDirectory: directory)
            return try names.map { String(decoding: try files.readFile("\(directory)/\($0)"), as: UTF8.self) }
                .joined()
        }
    }

    /// After the lane is closed, another engine may own the directory, with its own switch to report.
    func testAClosedLaneKeepsAnotherEnginesSwitch() async throws {
        let (lane, _) = try makeLane()
        try directory?.commit("bob", number: 1, telling: PendingSwitchNotice(from: "alice"))
        await lane.close()
        lane.forgetPendingSwitchNotice()
        _ = await lane.settle()
        XCTAssertEqual(try UserIndex.read(from: "/device", files).notice, PendingSwitchNotice(from: "alice"))
    }

    /// Until the machine learns of a failure, it appends batches that depend on entries that were not stored.
    func testAfterAFailureNothingIsWrittenUntilTheLaneResumes() async throws {
        let (lane, store) = try makeLane()
        let refused = Locked(false)
        let write = { @Sendable (batch: BatchID) in
            let entries = [JournalEntry.listed(["refused"])]
            lane.append(JournalBatch(batch: batch, entries: entries, contents: [:], flush: true))
        }
        files.before { operation, path throws(FileError) in
            guard operation == .append, !refused.withLock({ $0 }) else { return }
            refused.withLock { $0 = true }
            write(101)
            throw FileError(.append, path, code: ENOSPC)
        }
        write(100)
        write(102)
        _ = await lane.settle()
        let length = try text.count
        write(103)
        _ = await lane.settle()
        XCTAssertEqual(try text.count, length)
        lane.resume()
        await store(.subscribed, nil)
        XCTAssertTrue(try text.contains("subscribed"))
        XCTAssertFalse(try text.contains("refused"))
        await lane.close()
    }

    /// Reads see a batch until the machine has undone it.
    func testContentsAreReadableBeforeTheyAreStoredAndUntilTheLaneResumes() async throws {
        let (lane, _) = try makeLane()
        let handle = ContentHandle(1)
        let record = makeRecord()
        let (barrier, loaded) = (Barrier(), { try await lane.load([handle])[handle]?.fields["title"] })
        files.before { operation, path throws(FileError) in
            guard operation == .append else { return }
            barrier.pass()
            throw FileError(.append, path, code: ENOSPC)
        }
        let change = LocalChange(kind: .save(handle, size: 1), edited: nil, base: nil)
        let entries = [JournalEntry.queued(name: "a", change)]
        lane.append(JournalBatch(batch: 1, entries: entries, contents: [handle: record], flush: true))
        await barrier.reached()
        let unstored = try await loaded()
        XCTAssertEqual(unstored, record.fields["title"])
        barrier.open()
        _ = await lane.settle()
        let refused = try await loaded()
        XCTAssertEqual(refused, record.fields["title"])
        lane.resume()
        let undone = try await loaded()
        XCTAssertNil(undone)
        await lane.close()
    }

    /// A lane whose last write failed, and that resumes while this entry is queued.
    private func resumeLane(whileWaiting entry: JournalEntry, _ record: Record? = nil) async throws
        -> JournalDisk
    {
        let (lane, _) = try makeLane()
        try directory?.commit("bob", number: 1, telling: PendingSwitchNotice(from: "alice"))
        files.before { operation, path throws(FileError) in
            if operation == .append { throw FileError(.append, path, code: ENOSPC) }
        }
        lane.append(JournalBatch(batch: 100, entries: [.subscribed], contents: [:], flush: true))
        _ = await lane.settle()
        let contents = record.map { [ContentHandle(1): $0] } ?? [:]
        let hasResumed = Locked(false)
        files.before { _, _ throws(FileError) in
            if hasResumed.withLock({ $0 }) { return }
            hasResumed.withLock { $0 = true }
            // The lane's queue is busy with another file, so the batch waits.
            lane.append(JournalBatch(batch: 101, entries: [entry], contents: contents, flush: true))
            lane.resume()
        }
        lane.forgetPendingSwitchNotice()
        return lane
    }

    func testBatchesQueuedBeforeResumingAreDropped() async throws {
        let version = KnownVersion(changeTag: "1", handle: 1, hash: 1, modified: nil)
        let lane = try await resumeLane(whileWaiting: .fetched(name: "dropped", version), makeRecord())
        _ = await lane.settle()
        XCTAssertFalse(try text.contains("dropped"))
        let dropped = try await lane.load([1])
        XCTAssertNil(dropped[1])
        await lane.close()
    }

    /// Otherwise a switch would continue as if the records had been removed.
    func testADroppedRemovalIsReported() async throws {
        let lane = try await resumeLane(whileWaiting: .signedOut(removing: true))
        let failure = await lane.settle()
        XCTAssertNotNil(failure)
        await lane.close()
    }

    /// Each attempt rewrites all kept records, so it must not run with every change stored meanwhile.
    func testAFailedRemovalIsRetriedWithGrowingPauses() async throws {
        let (lane, store) = try makeLane()
        let record = makeRecord()
        let version = KnownVersion(changeTag: "1", handle: ContentHandle(1), hash: 1, modified: nil)
        await store(.fetched(name: "a", version), record)
        let tries = Locked(0)
        let refuse = { @Sendable (operation: FileError.Operation, path: String) throws(FileError) in
            guard operation == .rename, path.contains("snapshot") else { return }
            tries.withLock { $0 += 1 }
            throw FileError(.rename, path, code: ENOSPC)
        }
        files.before(refuse)
        await store(.signedOut(removing: true), nil)
        for _ in 0..<100 { await store(.subscribed, nil) }
        files.before(nil)
        XCTAssertTrue(try text.contains("of the former user"))
        XCTAssertLessThan(tries.withLock { $0 }, 10)
        for _ in 0..<100 { await store(.subscribed, nil) }
        XCTAssertFalse(try text.contains("of the former user"))

        files.before(refuse)
        await store(.signedOut(removing: true), nil)
        for _ in 0..<100 {
            let left = await lane.settle()
            XCTAssertNotNil(left, "a switch retries every time")
        }
        files.before(nil)
        await lane.close()
    }
}
