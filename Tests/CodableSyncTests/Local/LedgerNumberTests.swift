import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// Numbers in a cloud's files that CodableSync would never write, and files of another cloud.
final class LedgerNumberTests: XCTestCase {
    private let journal = "/ledger/journal-1.jsonl"

    /// A ledger with a record and some additional lines.
    private func prepare(_ lines: String...) async throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem()
        let directory = LedgerDirectoryFixture.directory(files)
        try await LedgerDirectoryFixture.save("a", in: directory)
        await directory.close()
        let (log, _) = try JSONLog.open(
            directory: "/ledger",
            fileSystem: files,
            format: LedgerFiles.format,
            version: LedgerFiles.version
        ) { _, _ in }
        try log.commit(LogFixture.group(lines), flush: true)
        log.close()
        return files
    }

    /// Asserts that requests succeed and can be read again, or fail with a clear error.
    private func assertGoesOn(_ files: SimulatedFileSystem, _ row: String) async throws {
        for name in ["b", "c"] {
            let directory = LedgerDirectoryFixture.directory(files)
            let saving = LedgerRequest.Operation.modifyRecords(
                saving: [
                    Record(
                        recordType: "Note",
                        recordID: RecordID(recordName: name, zoneID: LedgerDirectoryFixture.zone)
                    )
                ],
                deleting: [],
                savePolicy: .allKeys,
                atomically: true
            )
            let before = files.withoutLocks
            do {
                _ = try await LedgerDirectoryFixture.names(in: directory)
            } catch let error as CloudError {
                XCTAssertTrue(error.isOfDamage, "\(row): \(error)")
                XCTAssertTrue(error.message.contains("journal-1.jsonl"), "\(row): \(error)")
                await directory.close()
                XCTAssertEqual(files.withoutLocks, before, "\(row): rejected, but its files changed")
                continue
            }
            let request = LedgerRequest(user: "alice", operation: saving)
            let response = try await directory.perform(request, at: LedgerDirectoryFixture.date).response
            var isSaved = false
            if case .modifyRecords(let result) = response {
                isSaved = result.saveResults.values.allSatisfy {
                    if case .success = $0 { true } else { false }
                }
            }
            try await directory.compact()
            await directory.close()
            let again = LedgerDirectoryFixture.directory(files)
            let names = try await LedgerDirectoryFixture.names(in: again)
            XCTAssertEqual(names.contains(name), isSaved, "\(row): \(response)")
            await again.close()
        }
    }

    func testSequencesNearTheHighestNumberDoNotTrap() async throws {
        let record = #"{"name":"z","zone":"Note","type":"Note","system":{"tag":"1"},"fields":{}}"#
        for sequence in [Int64.max, .max - 1, .max - 2, 1 << 62, (1 << 62) - 1, -1, .min] {
            for line in [
                #"{"user":"alice","saved":\#(record),"sequence":\#(sequence)}"#,
                #"{"user":"alice","deleted":"a","zone":"Note","type":"Note","sequence":\#(sequence)}"#,
                #"{"user":"alice","zoneCreated":"Other","sequence":\#(sequence)}"#,
                #"{"user":"alice","tokensExpired":"Note","sequence":\#(sequence)}"#,
                #"{"user":"alice","tokensExpired":null,"sequence":\#(sequence)}"#,
                #"{"user":"alice","counters":\#(sequence),"date":0}"#,
            ] {
                try await assertGoesOn(try await prepare(line), line)
            }
        }
    }

    func testDatesAndQuotasNearTheHighestNumberDoNotTrap() async throws {
        for number in [Int64.max, .max - 1, .min, 9_000_000_000_000_000, 9_007_199_254_740_993] {
            for line in [
                #"{"user":"alice","counters":9,"date":\#(number)}"#,
                #"{"user":"alice","quota":\#(number)}"#,
                #"{"user":"alice","saved":{"name":"z","zone":"Note","type":"Note","system":{"tag":"1","modified":\#(number)},"fields":{}},"sequence":9}"#,
            ] {
                try await assertGoesOn(try await prepare(line), line)
            }
        }
    }

    func testARecordInARemovedZoneIsRejected() async throws {
        let removal =
            #"{"user":"alice","zoneRemoved":"Note","reason":"purged","canBeMadeAnew":true,"sequence":3}"#
        let record = #"{"name":"z","zone":"Note","type":"Note","fields":{}}"#
        let saving = #"{"user":"alice","saved":\#(record),"sequence":4}"#
        try await assertGoesOn(try await prepare(removal, saving), "a record in a removed zone")
    }

    func testAFileOfAnotherCloudIsRejectedAndNotTouched() async throws {
        for name in ["journal-2.jsonl", "snapshot-2.jsonl"] {
            let (files, others) = (SimulatedFileSystem(), SimulatedFileSystem())
            for (disk, record) in [(files, "mine"), (others, "theirs")] {
                let directory = LedgerDirectory(path: "/ledger", fileSystem: disk)
                try await LedgerDirectoryFixture.save(record, in: directory)
                try await directory.compact()
                try await LedgerDirectoryFixture.save("late \(record)", in: directory)
                await directory.close()
            }
            files.place(try XCTUnwrap(others.bytes(at: "/ledger/\(name)")), at: "/ledger/\(name)")
            let before = files.files.filter { !$0.key.hasSuffix("lock") }
            let directory = LedgerDirectory(path: "/ledger", fileSystem: files)
            do {
                _ = try await LedgerDirectoryFixture.names(in: directory)
                XCTFail("\(name): the directory was opened")
            } catch let error as CloudError {
                XCTAssertTrue(error.isOfDamage, "\(error)")
                XCTAssertTrue(error.message.contains("-2.jsonl"), "\(error)")
            }
            XCTAssertEqual(files.files.filter { !$0.key.hasSuffix("lock") }, before, name)
            await directory.close()
        }
    }
}
