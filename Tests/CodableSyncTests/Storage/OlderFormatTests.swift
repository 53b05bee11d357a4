import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// Files of an older format are refused with one clear error, and stay as they are.
final class OlderFormatTests: XCTestCase {
    private let identity = StateIdentity(
        cloud: "c",
        scope: "private",
        container: nil,
        zone: "Z",
        recordType: "T"
    )

    /// A file system with an empty log of the first version.
    private func olderLog(in directory: String, format: String) throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem()
        let log = try JSONLog.open(directory: directory, fileSystem: files, format: format, version: 1) {
            _,
            _ in
        }
        try log.log.commit(LogFixture.group([#"{"name":"A","retried":true}"#]), flush: true)
        log.log.close()
        return files
    }

    func testAStateOfTheFirstFormatIsRefused() throws {
        let files = try olderLog(in: "/device/users/1", format: "codablesync-state")
        let before = files.withoutLocks
        let directory = try StateDirectory(path: "/device", identity: identity, fileSystem: files)
        defer { directory.release() }
        XCTAssertThrowsError(try directory.openLast()) { error in
            guard case .tooOld(let text)? = error as? StateDirectory.Failure else {
                return XCTFail("\(error)")
            }
            for part in [
                "/device/users/1/journal-1.jsonl", "format version 1", "reads from 7", "older version",
            ] {
                XCTAssertTrue(text.contains(part), text)
            }
            XCTAssertTrue(text.contains("Send its edits with the version of the app that wrote it"), text)
        }
        XCTAssertEqual(files.withoutLocks, before, "a file was changed")
    }

    func testALedgerOfTheFirstFormatIsRefused() async throws {
        let files = try olderLog(in: "/cloud", format: LedgerFiles.format)
        let before = files.withoutLocks
        let directory = LedgerDirectory(path: "/cloud", fileSystem: files)
        do {
            _ = try await directory.perform(
                LedgerRequest(user: "alice", operation: .allZones),
                at: Date(timeIntervalSince1970: 0)
            )
            XCTFail("it was opened")
        } catch {
            XCTAssertEqual(error.code, .badDatabase)
            XCTAssertTrue(error.message.contains("format version 1"), error.message)
            XCTAssertTrue(error.message.contains("reads from 2"), error.message)
            XCTAssertTrue(error.message.contains("Move its journal and snapshot files away"), error.message)
        }
        await directory.close()
        XCTAssertEqual(files.withoutLocks, before, "a file was changed")
    }

    /// In a damaged first line, the version is not certain: the file counts as damaged.
    func testADamagedHeaderIsNotTakenForAnOlderFormat() throws {
        let files = try olderLog(in: "/log", format: "test")
        var bytes = try XCTUnwrap(files.bytes(at: "/log/journal-1.jsonl"))
        let place = try XCTUnwrap(bytes.firstRange(of: Array("\"number\":1".utf8))).upperBound - 1
        bytes[place] = UInt8(ascii: "2")
        files.place(bytes, at: "/log/journal-1.jsonl")
        let (log, recovery) = try JSONLog.open(
            directory: "/log",
            fileSystem: files,
            format: "test",
            version: 2,
            oldestVersion: 2
        ) { _, _ in }
        XCTAssertTrue(recovery.isDamaged)
        log.close()
    }
}
