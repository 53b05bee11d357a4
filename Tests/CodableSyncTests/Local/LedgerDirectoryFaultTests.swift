import XCTest

@_spi(Server) @testable import CodableSync

/// Failing disks and damaged files.
final class LedgerDirectoryFaultTests: XCTestCase {
    /// D5.
    func testAFullDiskFailsTheRequestAndChangesNothing() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = LedgerDirectoryFixture.directory(fileSystem)
        try await LedgerDirectoryFixture.save("a", in: directory)
        fileSystem.leaveRoom(for: 10)
        for _ in 0..<2 {
            do {
                try await LedgerDirectoryFixture.save("b", in: directory)
                XCTFail("the save should fail")
            } catch let error as CloudError {
                XCTAssertEqual(error.code, .quotaExceeded)
            }
            let names = try await LedgerDirectoryFixture.names(in: directory)
            XCTAssertEqual(names, ["a"])
        }
        fileSystem.leaveRoom(for: nil)
        try await LedgerDirectoryFixture.save("c", in: directory)
        let names = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(names, ["a", "c"])
    }

    /// D4.
    func testAFailedFlushHasAnUnknownOutcomeAndStartsANewFile() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = LedgerDirectoryFixture.directory(fileSystem)
        try await LedgerDirectoryFixture.save("a", in: directory)
        fileSystem.fail(.flush, code: EIO)
        do {
            try await LedgerDirectoryFixture.save("b", in: directory)
            XCTFail("the save should fail")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .serverResponseLost)
        }
        try await LedgerDirectoryFixture.save("c", in: directory)
        XCTAssertNotNil(fileSystem.bytes(at: "/ledger/journal-2.jsonl"))
        let names = try await LedgerDirectoryFixture.names(
            in: LedgerDirectoryFixture.directory(fileSystem.crashed(keeping: .onlySynced))
        )
        XCTAssertEqual(names, ["a", "c"])
    }

    /// BK-14, C26: the error names the damaged file and the place, and the file is not overwritten.
    func testADamagedFileIsReportedAndNotTouched() async throws {
        let fileSystem = SimulatedFileSystem()
        try await LedgerDirectoryFixture.save("a", "b", in: LedgerDirectoryFixture.directory(fileSystem))
        try await LedgerDirectoryFixture.save("c", in: LedgerDirectoryFixture.directory(fileSystem))
        let path = "/ledger/journal-1.jsonl"
        var bytes = try XCTUnwrap(fileSystem.bytes(at: path))
        bytes[bytes.endsOfCommits[1] + 20] ^= 1
        fileSystem.place(bytes, at: path)
        let names = fileSystem.names(in: "/ledger")
        for _ in 0..<2 {
            do {
                try await LedgerDirectoryFixture.save("d", in: LedgerDirectoryFixture.directory(fileSystem))
                XCTFail("the save should fail")
            } catch let error as CloudError {
                XCTAssertTrue(error.isOfDamage, error.message)
                XCTAssertTrue(error.message.contains(path), error.message)
                XCTAssertTrue(error.message.contains("line 7, byte \(bytes.endsOfCommits[1])"), error.message)
            }
        }
        XCTAssertEqual(fileSystem.bytes(at: path), bytes)
        XCTAssertEqual(fileSystem.names(in: "/ledger"), names)
    }

    func testAnUnknownLineIsReportedAsDamage() async throws {
        let rows = [
            ["{}"], ["{\"ledger\":\"\"}"], ["{\"ledger\":\"x\"}", "{\"user\":\"alice\",\"unheard\":1}"],
            ["{\"ledger\":\"x\"}", "[]"],
        ]
        for lines in rows {
            let fileSystem = SimulatedFileSystem()
            let (log, _) = try JSONLog.open(
                directory: "/ledger",
                fileSystem: fileSystem,
                format: LedgerFiles.format,
                version: LedgerFiles.version
            ) { _, _ in }
            try log.commit(LogFixture.group(lines), flush: true)
            let before = fileSystem.bytes(at: "/ledger/journal-1.jsonl")
            do {
                _ = try await LedgerDirectoryFixture.names(in: LedgerDirectoryFixture.directory(fileSystem))
                XCTFail("\(lines)")
            } catch let error as CloudError {
                XCTAssertTrue(error.isOfDamage, "\(lines): \(error)")
                XCTAssertTrue(error.message.contains("journal-1.jsonl"), error.message)
            }
            XCTAssertEqual(fileSystem.bytes(at: "/ledger/journal-1.jsonl"), before)
        }
    }

    func testNewerAndForeignFilesAreRejected() async throws {
        let rows: [(String, CloudError.Code, String)] = [
            (
                "{\"format\":\"CodableSync.Ledger\",\"version\":3,\"kind\":\"journal\"}\n",
                .incompatibleVersion, "has format version 3"
            ),
            (
                "{\"format\":\"CodableSync.Journal\",\"version\":1,\"kind\":\"journal\"}\n", .badDatabase,
                "is not a file of"
            ),
        ]
        for (header, code, text) in rows {
            let fileSystem = SimulatedFileSystem()
            fileSystem.place(Array(header.utf8), at: "/ledger/journal-1.jsonl")
            do {
                try await LedgerDirectoryFixture.save("a", in: LedgerDirectoryFixture.directory(fileSystem))
                XCTFail(header)
            } catch let error as CloudError {
                XCTAssertEqual(error.code, code)
                XCTAssertTrue(error.message.contains(text), error.message)
            }
            XCTAssertEqual(fileSystem.bytes(at: "/ledger/journal-1.jsonl"), Array(header.utf8))
        }
    }

    /// A writer was killed in the middle of a line: the next writer truncates it.
    func testATornTailOfAnotherWriterIsTruncated() async throws {
        let fileSystem = SimulatedFileSystem()
        let (first, second) = (
            LedgerDirectoryFixture.directory(fileSystem), LedgerDirectoryFixture.directory(fileSystem)
        )
        try await LedgerDirectoryFixture.save("a", in: first)
        try await LedgerDirectoryFixture.save("b", in: second)
        try fileSystem.openFile(at: "/ledger/journal-1.jsonl", for: .appending)
            .append(Array("{\"user\":\"alice\",\"sav".utf8))
        try await LedgerDirectoryFixture.save("c", in: first)
        let (one, other) = try await (
            LedgerDirectoryFixture.names(in: first), LedgerDirectoryFixture.names(in: second)
        )
        XCTAssertEqual(one, ["a", "b", "c"])
        XCTAssertEqual(other, one)
    }
}
