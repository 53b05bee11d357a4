import XCTest

@_spi(Server) @testable import CodableSync

/// Copies of a ledger that is in use.
final class LedgerBackupTests: XCTestCase {
    private let disk = SimulatedFileSystem()

    func testACopyHasWhatWasSavedAndGoesOnAsTheSameLedger() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", "b", in: directory)
        try await directory.compact()
        try await LedgerDirectoryFixture.save("c", in: directory)
        let identity = try directory.identity()
        let count = try await directory.backUp(to: "/copy")
        try await LedgerDirectoryFixture.save("d", in: directory)
        let sizes = disk.files.filter { $0.key.hasPrefix("/copy/") }.map(\.value.count)
        XCTAssertEqual(Int(count), sizes.reduce(0, +))
        let copy = LedgerDirectory(path: "/copy", fileSystem: disk)
        XCTAssertEqual(try copy.identity(), identity)
        let found = try await LedgerDirectoryFixture.names(in: copy)
        XCTAssertEqual(found, ["a", "b", "c"])
        let all = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(all, ["a", "b", "c", "d"])
    }

    func testNoCopyHasPartOfARequestWhileOthersWriteAndCompact() async throws {
        let directory = LedgerDirectoryFixture.directory(disk, compactionSize: 4_000)
        try await LedgerDirectoryFixture.save("start", in: directory)
        let isDone = Locked(false)
        let writer = Task {
            var number = 0
            while !isDone.withLock({ $0 }) {
                let pair = ["\(number % 40)-left", "\(number % 40)-right"]
                try await LedgerDirectoryFixture.saveRecords(pair, text: "\(number)", in: directory)
                number += 1
            }
        }
        var states: Set<[String]> = []
        var numbers: Set<UInt32> = []
        for number in 0..<10 {
            // Something is written between two copies.
            let seen = disk.files.filter { $0.key.hasPrefix("/ledger/") }
            while disk.files.filter({ $0.key.hasPrefix("/ledger/") }) == seen { await Task.yield() }
            let other = LedgerDirectoryFixture.directory(disk)
            try await other.backUp(to: "/copy-\(number)")
            await other.close()
            let copy = LedgerDirectory(path: "/copy-\(number)", fileSystem: disk)
            let texts = try await LedgerDirectoryFixture.changes(in: copy).map(\.fields["text"])
            await copy.close()
            states.insert(texts.map { String(describing: $0) })
            numbers.formUnion(disk.names(in: "/copy-\(number)").compactMap { LogFileName($0)?.number })
            let counts = Dictionary(grouping: texts) { $0 }.values.map(\.count).sorted()
            XCTAssertEqual(Set(counts.dropFirst()).subtracting([2]), [], "half a request is in the copy")
            XCTAssertEqual(counts.first, 1, "the first record is missing")
        }
        isDone.withLock { $0 = true }
        try await writer.value
        XCTAssertGreaterThan(states.count, 1, "all copies are equal")
        XCTAssertGreaterThan(numbers.count, 1, "nothing was compacted")
    }

    func testItNeitherMixesWithOtherFilesNorCreatesADirectory() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await directory.backUp(to: "/empty")
        XCTAssertEqual(try disk.contents(ofDirectory: "/empty"), [])
        XCTAssertNil(try disk.status(of: "/ledger"))
        disk.place([1], at: "/foreign/diary.txt")
        do {
            try await LedgerDirectory(path: "/foreign", fileSystem: disk).backUp(to: "/copy-of-it")
            XCTFail("the copy of something else counts as one of a cloud")
        } catch {
            XCTAssertTrue(error.message.contains("is not a cloud"), error.message)
        }
        try await LedgerDirectoryFixture.save("a", in: directory)
        try await directory.backUp(to: "/copy")
        do {
            try await directory.backUp(to: "/copy")
            XCTFail("two copies are mixed")
        } catch {
            XCTAssertTrue(error.message.contains("Use an empty directory"), error.message)
        }
    }

    /// As while a compaction replaces the journal, or behind another program that has removed it.
    func testACloudWithoutItsJournalIsNoEmptyCopy() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", "b", in: directory)
        try await directory.compact()
        await directory.close()
        try disk.remove("/ledger/journal-2.jsonl")
        let other = LedgerDirectoryFixture.directory(disk)
        do {
            try await other.backUp(to: "/copy")
        } catch {
            return XCTAssertTrue(error.message.contains("and so is this copy"), error.message)
        }
        let copy = LedgerDirectory(path: "/copy", fileSystem: disk)
        let names = try await LedgerDirectoryFixture.names(in: copy)
        XCTAssertEqual(names, ["a", "b"])
    }

    func testADamagedLineIsNotCopiedSilently() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", "b", in: directory)
        await directory.close()
        var bytes = try XCTUnwrap(disk.files["/ledger/journal-1.jsonl"])
        bytes[bytes.count / 2] ^= 1
        disk.place(bytes, at: "/ledger/journal-1.jsonl")
        let other = LedgerDirectoryFixture.directory(disk)
        do {
            try await other.backUp(to: "/copy")
            XCTFail("the copy is damaged")
        } catch {
            XCTAssertTrue(error.isOfDamage, error.message)
            XCTAssertTrue(
                error.message.contains("\"/ledger\" is damaged, and so is this copy"),
                error.message
            )
        }
    }

    /// Another process holds one of the locks, and is stopped.
    func testItWaitsForALockAndNamesItsOwner() async throws {
        for name in ["lock", "compaction.lock"] {
            let disk = SimulatedFileSystem()
            let clock = ManualClock()
            let directory = LedgerDirectory(path: "/ledger", fileSystem: disk, clock: clock)
            try await LedgerDirectoryFixture.save("a", in: directory)
            var held: (any FileLock)?
            while held == nil {
                if case .acquired(let lock) = try disk.lock("/ledger/\(name)") { held = lock }
                await Task.yield()
            }
            let waiting = Task { try await directory.backUp(to: "/late") }
            await clock.wait { !$0.isEmpty }
            clock.advance(by: .seconds(20))
            let error = await waiting.result.failure as? CloudError
            XCTAssertEqual(error?.code, .serviceUnavailable, name)
            XCTAssertTrue(error?.message.contains("process 1,") == true, error?.message ?? "no error")
            let cancelled = Task { try await directory.backUp(to: "/cancelled") }
            await clock.wait { !$0.isEmpty }
            cancelled.cancel()
            let reason = await cancelled.result.failure as? CloudError
            XCTAssertEqual(reason?.code, .operationCancelled, name)
            let served = Task { try await directory.backUp(to: "/copy") }
            await clock.wait { !$0.isEmpty }
            held?.release()
            clock.advance(by: .milliseconds(10))
            _ = try await served.value
            XCTAssertNotNil(disk.files["/copy/journal-1.jsonl"], name)
            await directory.close()
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
