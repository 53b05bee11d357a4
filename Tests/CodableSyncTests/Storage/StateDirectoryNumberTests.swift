import Foundation
import XCTest

@testable import CodableSync

/// Numbered directories and oversized files in the engine's directory.
final class StateDirectoryNumberTests: XCTestCase {
    private let identity = StateIdentity(
        cloud: "cloud-1",
        scope: "private",
        container: nil,
        zone: "Z",
        recordType: "T"
    )

    private func directory(_ files: any FileSystem, _ path: String = "/d") throws -> StateDirectory {
        try StateDirectory(path: path, identity: identity, fileSystem: files)
    }

    /// A new user's directory is found again, however high the existing numbers are.
    func testAUsersDirectoryIsFoundAgainDespiteHugeNumbers() throws {
        for number in ["9223372036854775806", "9223372036854775807", "9223372036854775805"] {
            let files = SimulatedFileSystem()
            try files.createDirectory(at: "/d/users/\(number)")
            for _ in 0..<2 {
                let directory = try directory(files)
                _ = try directory.openLast()
                for user in ["alice", "bob", "carol"] {
                    try directory.open(for: user).store.close()
                }
                directory.release()
            }
            let last = try directory(files)
            let numbers = try ["alice", "bob", "carol"].map { user in
                let opened = try last.open(for: user)
                XCTAssertEqual(opened.state.summary.user, user)
                opened.store.close()
                return opened.number
            }
            XCTAssertEqual(Set(numbers).count, 3, number)
        }
    }

    func testADirectoryNameThatOnlyLooksLikeANumberIsIgnored() throws {
        let files = SimulatedFileSystem()
        for name in ["+1", "01", "1 ", "-1", "0"] { try files.createDirectory(at: "/d/users/\(name)") }
        let directory = try directory(files)
        let opened = try directory.openLast()
        XCTAssertEqual(opened.number, 1)
        XCTAssertEqual(try directory.open(for: "bob", beside: 1).number, 2)
    }

    /// The file is sparse: it takes no disk space but has a size of ten terabytes.
    func testAFileOfTenTerabytesIsRejectedWithoutReadingIt() throws {
        let temporary = try TemporaryDirectory()
        defer { XCTAssertNoThrow(try temporary.remove()) }
        let path = temporary.url.path
        let first = try directory(LocalFileSystem(), path)
        try first.openLast().store.close()
        let users = temporary.url.appending(path: "users/2")
        try FileManager.default.createDirectory(at: users, withIntermediateDirectories: true)
        let journal = users.appending(path: "journal-1.jsonl")
        XCTAssertTrue(FileManager.default.createFile(atPath: journal.path, contents: nil))
        let handle = try FileHandle(forWritingTo: journal)
        try handle.truncate(atOffset: 10 << 40)
        try handle.close()
        XCTAssertThrowsError(try first.open(for: "bob")) { error in
            guard case .unreadable(let text)? = error as? StateDirectory.Failure else {
                return XCTFail("\(error)")
            }
            XCTAssertTrue(text.contains("users/2/journal-1.jsonl"), text)
        }
        first.release()
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: users.path), ["journal-1.jsonl"])
    }
}
