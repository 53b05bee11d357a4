import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// Row C26 of the malformed inputs: files of a local database with contents it didn't write.
final class MalformedLedgerTests: XCTestCase {
    private let journal = "/ledger/journal-1.jsonl"
    private let snapshot = "/ledger/snapshot-2.jsonl"

    /// A ledger with three records, one request each.
    private func prepare(compacted: Bool = false) async throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem()
        let directory = LedgerDirectoryFixture.directory(disk)
        for name in ["a", "b", "c"] { try await LedgerDirectoryFixture.save(name, in: directory) }
        if compacted { try await directory.compact() }
        await directory.close()
        return disk
    }

    private func bytes(_ disk: SimulatedFileSystem) -> [String: [UInt8]] {
        disk.files.filter { !$0.key.hasSuffix("lock") }
    }

    /// Returns the names or the error; in case of an error, asserts that no file was changed.
    private func open(
        _ disk: SimulatedFileSystem,
        _ row: String
    ) async throws -> Result<[String], CloudError> {
        let before = bytes(disk)
        let directory = LedgerDirectoryFixture.directory(disk)
        do {
            let names = try await LedgerDirectoryFixture.names(in: directory)
            await directory.close()
            return .success(names)
        } catch let error as CloudError {
            XCTAssertEqual(bytes(disk), before, "\(row): a file was changed")
            await directory.close()
            return .failure(error)
        }
    }

    // C26: wrong magic bytes, and files of other applications.
    func testForeignFilesAreReportedAndLeftUnchanged() async throws {
        var utf16: [UInt8] = [0xFF, 0xFE]
        for byte in "{\"format\":\"CodableSync.Ledger\"}\n".utf8 { utf16 += [byte, 0] }
        let rows: [(String, [UInt8])] = [
            ("SQLite", Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 4080)),
            ("PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("empty", []),
            ("zeros", [UInt8](repeating: 0, count: 4096)), ("text", Array("dear diary\n".utf8)),
            ("other JSON", Array("{\"landmarks\":[]}\n".utf8)), ("UTF-16", utf16),
            (
                "another log",
                Array("{\"format\":\"codablesync-state\",\"version\":1,\"kind\":\"journal\"}\n".utf8)
            ),
        ]
        for (row, contents) in rows {
            let disk = SimulatedFileSystem()
            disk.place(contents, at: journal)
            guard case .failure(let error) = try await open(disk, row) else {
                XCTFail("\(row): it was opened")
                continue
            }
            let isForeign = error.code == .badDatabase && error.message.contains("is not a file of")
            XCTAssertTrue(error.isOfDamage || isForeign, "\(row): \(error)")
            XCTAssertTrue(error.message.contains(journal), "\(row): \(error)")
            // A file of another log is not the cloud's.
            let advice = isForeign ? "Move it away" : "ove its journal and snapshot files away"
            XCTAssertTrue(error.message.contains(advice), "\(row): \(error)")
        }
    }

    // C26: a file truncated at every seventh byte, or before its last one.
    //
    // An interrupted write is not damage; a truncated snapshot is.
    func testATruncatedFileGivesAPrefixOfTheHistoryOrIsRejected() async throws {
        for (path, whole) in [(journal, try await prepare()), (snapshot, try await prepare(compacted: true))]
        {
            let contents = try XCTUnwrap(whole.bytes(at: path))
            for size in Array(Cases.places(every: 7, below: contents.count - 1)) + [contents.count - 1] {
                let disk = whole.crashed(keeping: .allWrites)
                disk.place(Array(contents[..<size]), at: path)
                let row = "\(path) cut at \(size)"
                switch try await open(disk, row) {
                case .success(let names):
                    XCTAssertTrue(["a", "b", "c"].starts(with: names), "\(row): \(names)")
                    if path == snapshot { XCTAssertEqual(size, contents.count - 1, row) }
                case .failure(let error):
                    XCTAssertTrue(error.isOfDamage, "\(row): \(error)")
                    XCTAssertTrue(error.message.contains(path), "\(row): \(error)")
                }
            }
        }
    }

    // C26: one flipped bit.
    func testAFlippedBitIsNeverReadAsData() async throws {
        for (path, whole) in [(journal, try await prepare()), (snapshot, try await prepare(compacted: true))]
        {
            let contents = try XCTUnwrap(whole.bytes(at: path))
            for offset in Cases.places(every: 7, below: contents.count) {
                var damaged = contents
                damaged[offset] ^= 1 << (offset % 8)
                let disk = whole.crashed(keeping: .allWrites)
                disk.place(damaged, at: path)
                let row = "\(path), byte \(offset)"
                switch try await open(disk, row) {
                case .success(let names):
                    // A damaged last commit mark may look like an interrupted write; nothing else may.
                    XCTAssertEqual(names, ["a", "b"], row)
                    XCTAssertEqual(path, journal, row)
                case .failure(let error):
                    XCTAssertTrue(error.isOfDamage || error.code == .incompatibleVersion, "\(row): \(error)")
                    XCTAssertTrue(error.message.contains(path), "\(row): \(error)")
                }
            }
        }
    }

    // C26, C20: a directory, link or special file in place of the journal.
    func testOnlyARegularFileIsAccepted() async throws {
        for kind in [FileKind.directory, .symbolicLink, .other] {
            let disk = SimulatedFileSystem()
            disk.placeOther(kind, at: journal)
            guard case .failure(let error) = try await open(disk, kind.rawValue) else {
                XCTFail(kind.rawValue)
                continue
            }
            XCTAssertEqual(error.code, .badDatabase, "\(error)")
            XCTAssertFalse(error.isOfDamage, "\(error)")
            XCTAssertTrue(error.message.contains(journal), "\(error)")
        }
    }

    // C26: an engine on a damaged database keeps every edit, names the file, and continues once the file is
    // repaired.
    func testAnEngineOnADamagedDatabaseKeepsEveryEditAndNamesTheFile() async throws {
        let disk = try await prepare()
        let contents = try XCTUnwrap(disk.bytes(at: journal))
        // The identity has a file of its own, which an engine has read before.
        _ = try LedgerDirectoryFixture.directory(disk).identity()
        disk.place(Array("SQLite format 3\0".utf8), at: journal)
        let clock = ManualClock()
        let database = LocalDatabase(
            directory: URL(fileURLWithPath: "/ledger"),
            user: "alice",
            fileSystem: disk,
            clock: clock
        )
        let phone = Device<Note>(database, clock: clock)
        try await phone.engine.upload(Note("mine", "edit"))
        do {
            try await phone.engine.sync()
            XCTFail("the database is damaged")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertTrue(error.message.contains(journal), error.message)
        }
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["mine"])
        XCTAssertEqual(disk.bytes(at: journal), Array("SQLite format 3\0".utf8))
        disk.place(contents, at: journal)
        try await phone.engine.sync()
        let after = try await phone.pendingNames()
        XCTAssertEqual(after, [])
        try await phone.engine.close()
    }
}
