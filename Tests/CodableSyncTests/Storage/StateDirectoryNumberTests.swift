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
                    let opened = try directory.open(for: user, leaving: nil)
                    try directory.commit(user, number: opened.number)
                    opened.store.close()
                }
                directory.release()
            }
            try files.remove("/d/users.json")
            let last = try directory(files)
            let numbers = try ["alice", "bob", "carol"].map { user in
                let opened = try last.open(for: user, leaving: nil)
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
        XCTAssertEqual(try directory.open(for: "bob", leaving: StateUser(number: 1, name: "alice")).number, 2)
    }

    /// The file is sparse: it takes no disk space but has a size of ten terabytes.
    func testAnIndexOfTenTerabytesIsRejectedWithoutReadingIt() throws {
        let temporary = try TemporaryDirectory()
        defer { XCTAssertNoThrow(try temporary.remove()) }
        let path = temporary.url.path
        let index = temporary.url.appending(path: "users.json")
        XCTAssertTrue(FileManager.default.createFile(atPath: index.path, contents: nil))
        let handle = try FileHandle(forWritingTo: index)
        try handle.truncate(atOffset: 10 << 40)
        try handle.close()
        XCTAssertThrowsError(try directory(LocalFileSystem(), path)) { error in
            guard case .unreadable(let text)? = error as? StateDirectory.Failure else {
                return XCTFail("\(error)")
            }
            XCTAssertTrue(text.contains("users.json"), text)
        }
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: path).sorted(),
            ["lock", "users.json"]
        )
    }
}
