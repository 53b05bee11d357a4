import Foundation
import XCTest

@testable import CodableSync

/// A closed file rejects every call; the same tests run on the real file system and on each test double.
final class ClosedFileTests: XCTestCase {
    /// Runs a test in an empty directory of every file system.
    private func onEveryFileSystem(
        _ fact: (_ fileSystem: any FileSystem, _ directory: String, _ row: String) throws -> Void
    ) throws {
        let temporary = try TemporaryDirectory()
        defer { XCTAssertNoThrow(try temporary.remove()) }
        let rows: [(String, any FileSystem)] = [
            ("local", LocalFileSystem()), ("memory", MemoryFileSystem()),
            ("simulated", SimulatedFileSystem()), ("wrapped", HeldFileSystem(MemoryFileSystem())),
        ]
        for (row, fileSystem) in rows {
            let directory = temporary.path.appending(path: row)
            try fileSystem.createDirectory(at: directory)
            try fact(fileSystem, directory, row)
        }
    }

    private static let calls: [(FileError.Operation, @Sendable (any OpenFile) throws -> Void)] = [
        (.append, { try $0.append([9]) }), (.read, { _ = try $0.read(at: 0, count: 1) }),
        (.look, { _ = try $0.size() }), (.flush, { try $0.flush() }), (.truncate, { try $0.truncate(to: 0) }),
    ]

    func testAClosedFileRejectsEveryCallAndTouchesNoOtherFile() throws {
        try onEveryFileSystem { fileSystem, directory, row in
            for access in [FileAccess.replacing, .appending, .reading] {
                let path = directory.appending(path: "a")
                try fileSystem.writeAtomically([1, 2, 3], to: path)
                let file = try fileSystem.openFile(at: path, for: access)
                file.close()
                // The system reuses the descriptor of the closed file.
                let next = try fileSystem.openFile(at: directory.appending(path: "b"), for: .replacing)
                try next.append([4, 5])
                for (operation, call) in Self.calls {
                    XCTAssertThrowsError(try call(file), "\(row): \(operation)") { error in
                        XCTAssertEqual(
                            error as? FileError,
                            FileError(operation, path, code: EBADF),
                            "\(row): \(operation)"
                        )
                    }
                }
                XCTAssertEqual(try next.read(at: 0, count: 9), [4, 5], row)
                next.close()
            }
        }
    }

    func testClosingOneOfTwoOpenFilesWithOnePathKeepsTheOtherOpen() throws {
        try onEveryFileSystem { fileSystem, directory, row in
            let path = directory.appending(path: "a")
            try fileSystem.writeAtomically([1], to: path)
            let first = try fileSystem.openFile(at: path, for: .appending)
            let second = try fileSystem.openFile(at: path, for: .reading)
            first.close()
            XCTAssertEqual(try second.read(at: 0, count: 9), [1], row)
            XCTAssertEqual(first.identity, second.identity, row)
            second.close()
        }
    }

    func testClosingAFileTwiceClosesNoOtherFile() throws {
        try onEveryFileSystem { fileSystem, directory, row in
            let file = try fileSystem.openFile(at: directory.appending(path: "a"), for: .replacing)
            file.close()
            let next = try fileSystem.openFile(at: directory.appending(path: "b"), for: .replacing)
            file.close()
            try next.append([1])
            XCTAssertEqual(try next.size(), 1, row)
            next.close()
        }
    }

    /// Otherwise the descriptor could belong to another file while a call still uses it.
    func testADescriptorStaysOpenUntilTheLastCallEnds() throws {
        let temporary = try TemporaryDirectory()
        defer { XCTAssertNoThrow(try temporary.remove()) }
        let file = try LocalOpenFile(path: temporary.path.appending(path: "a"), access: .replacing)
        try file.append([1, 2])
        try file.withDescriptor(.read) { number throws(FileError) in
            file.close()
            XCTAssertThrowsError(try file.size())
            var bytes: [UInt8] = [0, 0]
            XCTAssertEqual(pread(number, &bytes, 2, 0), 2)
            XCTAssertEqual(bytes, [1, 2])
        }
        XCTAssertThrowsError(try file.size())
    }
}
