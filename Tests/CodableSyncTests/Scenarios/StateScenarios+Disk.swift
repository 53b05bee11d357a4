import Foundation
import XCTest

@testable import CodableSync

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A disk that fails, is full or slow, or is changed by another program while the engine runs.
extension StateScenarios {
    // D4
    func testAFailedFlushFailsTheCallAndStartsANewFile() async throws {
        let (phone, disk) = try makeFragileDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        let journal = try StateFiles(disk)
        disk.fail(.flush, code: EIO)
        do {
            try await phone.engine.upload(Note("b"))
            XCTFail("the upload should fail")
        } catch let error as SyncError where error.code == .storageFailed {
            let message = error.message
            XCTAssertTrue(message.contains("flush") && message.contains("journal-1.jsonl"), message)
        }
        let names = try await phone.pendingNames()
        XCTAssertEqual(names, ["a"])
        try await phone.engine.upload(Note("c"))
        XCTAssertTrue(journal.names.contains("journal-2.jsonl"), "\(journal.names)")
        try await phone.crash()
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a", "c"])
    }

    // D5: for every number of free bytes.
    func testAFullDiskFailsTheUploadAndLosesNothing() async throws {
        let (phone, disk) = try makeFragileDevice(Note.self)
        try await phone.engine.upload(Note("a", "first"))
        let before = disk.writtenBytes
        try await phone.engine.upload(Note("a", "second"))
        let cost = disk.writtenBytes - before
        for room in 0..<cost {
            disk.leaveRoom(for: room)
            do {
                try await phone.engine.upload(Note("a", "xxxxxx"))
                XCTFail("there is room for \(room) bytes of \(cost)")
            } catch let error as SyncError where error.code == .storageFull {
                let message = error.message
                XCTAssertTrue(message.contains("journal-1.jsonl"), message)
            }
            let model = try await phone.engine.model(named: "a")
            XCTAssertEqual(model?.title, "second", "room for \(room)")
        }
        disk.leaveRoom(for: nil)
        try await phone.engine.upload(Note("b", "later"))
        try await phone.crash()
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models, [Note("a", "second"), Note("b", "later")])
    }

    // D5: when the state is opened.
    func testAFullDiskAtTheOpeningIsReportedAndRetried() async throws {
        let (phone, disk) = try makeFragileDevice(Note.self)
        disk.leaveRoom(for: 5)
        do {
            try await phone.engine.upload(Note("a"))
            XCTFail("the upload should fail")
        } catch {
            guard (error as? SyncError)?.code == .storageFull else { return XCTFail("\(error)") }
        }
        disk.leaveRoom(for: nil)
        try await phone.engine.upload(Note("a"))
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a"])
    }

    // D6, CR-18
    func testALockedDeviceFailsUploadsAndRecoversWithoutARestart() async throws {
        let (phone, disk) = try makeFragileDevice(Note.self)
        try await serverSave(Note("theirs"))
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a"))
        for code in [EACCES, EPERM, EROFS] {
            for kind in [FileError.Operation.look, .open, .create, .append, .list, .rename] {
                for _ in 0..<20 { disk.fail(kind, code: code) }
            }
            for _ in 0..<2 {
                do {
                    try await phone.engine.upload(Note("refused"))
                    XCTFail("the upload should fail")
                } catch let error as SyncError where error.code == .storageFailed {
                    let message = error.message
                    XCTAssertTrue(message.contains(String(cString: strerror(code))), message)
                }
            }
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, ["a"], "\(code)")
            disk.clearFaults()
            try await phone.engine.upload(Note("a", "after \(code)"))
        }
        try await phone.engine.sync()
        try await assertEqualEverywhere(phone)
        try await phone.crash()
        try await assertEqualEverywhere(phone)
    }

    // D7
    func testFilesChangedByAnotherProgramAreDetectedAndNotWritten() async throws {
        let changes: [(String, (StateFiles) throws -> Void)] = [
            ("removed", { try $0.remove("journal-1.jsonl") }),
            ("replaced", { $0["journal-1.jsonl"] = $0["journal-1.jsonl"] }),
            ("replaced by an older one", { $0["journal-1.jsonl"] = Array($0["journal-1.jsonl"].prefix(56)) }),
            (
                "added to",
                { files in
                    try files.disk.openFile(at: files.directory + "/journal-1.jsonl", for: .appending)
                        .append([1])
                }
            ),
        ]
        for (row, change) in changes {
            let (phone, disk) = try makeFragileDevice(Note.self)
            try await phone.engine.upload(Note("a"))
            let files = try StateFiles(disk)
            try change(files)
            let before = files.all
            for _ in 0..<2 {
                do {
                    try await phone.engine.upload(Note("b"))
                    XCTFail(row)
                } catch let error as SyncError where error.code == .storageFailed {
                    let message = error.message
                    XCTAssertTrue(message.contains("journal-1.jsonl"), "\(row): \(message)")
                    XCTAssertTrue(message.contains("another program"), "\(row): \(message)")
                }
            }
            XCTAssertEqual(files.all, before, "\(row): no file is written")
            try await phone.engine.close()
            XCTAssertEqual(files.all, before, "\(row): not even on close")
            let again = try makeDevice(Note.self, on: disk)
            try await again.engine.upload(Note("c"))
            let pending = try await again.pendingNames()
            XCTAssertEqual(pending.contains("c"), true, row)
            XCTAssertEqual(pending.contains("b"), false, row)
            try await again.engine.close()
        }
    }

    // D7: the directory has been replaced when a compaction ends.
    func testACompactionDoesNotTouchAReplacedDirectory() async throws {
        let files = try await prepare()
        let (log, _) = try JSONLog.open(
            directory: files.directory,
            fileSystem: files.disk,
            format: "codablesync-state",
            version: JSONStateStore.version
        ) { _, _ in }
        let compaction = try log.beginCompaction()
        for name in files.names where LogFileName(name) != nil { files[name] = files[name] }
        let before = files.all.filter { !$0.key.hasSuffix(".tmp") }
        XCTAssertThrowsError(try compaction.write { _ in [] }) { error in
            guard case .replaced? = error as? LogError else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(files.all.filter { !$0.key.hasSuffix(".tmp") }, before)
    }

    // D5: a failed compaction loses nothing and is reported.
    func testAFailedCompactionIsReported() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        files.before { operation, path throws(FileError) in
            guard operation == .rename, path.contains("snapshot") else { return }
            throw FileError(operation, path, code: ENOSPC)
        }
        // The first compaction is due beyond four megabytes.
        let notes = (0..<5).map { Note("n\($0)", note: String(repeating: "x", count: 900_000)) }
        try await phone.engine.upload(notes)
        await phone.events.reach("the failure is reported") { $0.tellOfCompaction }
        try await phone.restart()
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, notes)
        try await phone.engine.close()
    }

    // D14
    func testASlowDiskDelaysOnlyCallsThatWriteToIt() async throws {
        let disk = SlowFileSystem()
        let phone = try makeDevice(Note.self) { $0.fileSystem = disk }
        try await phone.engine.upload(Note("first"))
        disk.hold()
        let engine = phone.engine
        let held = Task { try await engine.upload(Note("held")) }
        await disk.waiting.reach("the flush waits") { $0 == 1 }
        let before = disk.flushCount
        let others = (0..<50).map { number in Task { try await engine.upload(Note("n\(number)")) } }
        // Reads still return immediately.
        let model = try await engine.model(named: "first")
        XCTAssertEqual(model, Note("first"))
        let names = try await phone.pendingNames()
        XCTAssertEqual(names.prefix(2), ["first", "held"])
        await engine.reach("all uploads have begun", withinTurns: true) { $0.waitingCallCount == 51 }
        disk.release()
        try await held.value
        for other in others { try await other.value }
        XCTAssertLessThanOrEqual(disk.flushCount - before, 3, "the uploads share a flush")
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending.count, 52)
        try await engine.close()
    }

    // P-48
    func testARecordOfMaximumSizeFitsIntoEveryFile() async throws {
        let directory = try makeDirectory()
        let phone = try makeRealDevice(Note.self, in: directory.url)
        let tablet = try makeDevice(Note.self)
        // Each of the last characters takes one byte in a record and six in the stored JSON.
        let text = String(repeating: "x", count: 980_000) + String(repeating: "\u{1}", count: 19_000)
        try await phone.engine.upload(Note("large", note: text))
        try await settle(phone, tablet)
        try await phone.restart()
        let model = try await phone.engine.model(named: "large")
        XCTAssertEqual(model?.note?.count, text.count)
        try await assertEqualEverywhere(phone, tablet)
        do {
            try await phone.engine.upload(Note("larger", note: text + text))
            XCTFail("the upload should fail")
        } catch {
            guard (error as? SyncError)?.code == .invalidModels else { return XCTFail("\(error)") }
        }
        try await phone.engine.close()
    }

    /// The read that opens the state asks for no element.
    func testALoopThatBeganBeforeTheStateCouldBeOpenedIsServed() async throws {
        let files = HookedFileSystem()
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("a"))
        try await phone.engine.sync()
        try await phone.restart()
        files.before { operation, path throws(FileError) in throw FileError(operation, path, code: EIO) }
        let engine = phone.engine
        let first = Task { await engine.changes.first { _ in true } }
        await phone.events.reach("the state can't be opened") { events in
            events.contains { if case .storageFailed = $0 { true } else { false } }
        }
        files.before(nil)
        let models = try await engine.allModels()
        let change = await waiting(for: "the loop's first element", else: nil) { await first.value }
        XCTAssertEqual(change, .updated(models))
    }
}

extension SyncCore {
    /// The number of calls that wait for the disk or the cloud.
    fileprivate var waitingCallCount: Int { calls.count }
}
