import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The engine's directory: its one owner, and whose the state is.
final class StateDirectoryTests: XCTestCase {
    private let fileSystem = SimulatedFileSystem()

    private func directory() throws -> StateDirectory {
        try StateDirectory(path: "/d", fileSystem: fileSystem)
    }

    /// I-08.
    func testSecondOwnerIsRefusedUntilTheFirstLetsGo() throws {
        let first = try directory()
        XCTAssertThrowsError(try directory()) { error in
            XCTAssertEqual(error as? StateDirectory.Failure, .inUse(by: "process 1"))
        }
        first.release()
        try directory().release()
    }

    func testUnclaimedStateIsClaimedOnceAndStaysClaimed() throws {
        let first = try directory()
        XCTAssertNil(first.lastUser)
        try put("A", 1, try first.openLast().store)
        try first.claim(for: "alice")
        XCTAssertEqual(first.lastUser, "alice")
        try first.claim(for: "bob")
        XCTAssertEqual(first.lastUser, "alice")
        first.release()
        let second = try directory()
        XCTAssertEqual(second.lastUser, "alice")
        XCTAssertEqual(try second.openLast().state.sortedNames, ["A"])
    }

    func testClaimThatCannotBeStoredIsNotMade() throws {
        let first = try directory()
        _ = try first.openLast()
        fileSystem.fail(.create, code: ENOSPC)
        XCTAssertThrowsError(try first.claim(for: "alice"))
        XCTAssertNil(first.lastUser)
        try first.claim(for: "bob")
        XCTAssertEqual(first.lastUser, "bob")
    }

    /// I-47.
    func testNewerUsersFileIsRefusedAndNotTouched() throws {
        let bytes = Array(#"{"format":"codablesync-users","version":2,"users":{"a":1}}"#.utf8)
        fileSystem.place(bytes, at: "/d/users.json")
        XCTAssertThrowsError(try directory()) { error in
            guard case .tooNew? = error as? StateDirectory.Failure else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(fileSystem.bytes(at: "/d/users.json"), bytes)
        fileSystem.place(Self.users, at: "/d/users.json")
        XCTAssertEqual(try directory().lastUser, "alice", "the lock was let go")
    }

    /// I-47.
    func testNewerStateIsRefusedAndNotTouched() throws {
        let (log, _) = try JSONLog.open(
            directory: "/d/users/1",
            fileSystem: fileSystem,
            format: "codablesync-state",
            version: JSONStateStore.version + 1
        ) { _, _ in }
        log.close()
        let files = {
            self.fileSystem.names(in: "/d/users/1").map { self.fileSystem.bytes(at: "/d/users/1/\($0)") }
        }
        let before = files()
        let directory = try directory()
        XCTAssertThrowsError(try directory.openLast()) { error in
            guard case .tooNew? = error as? StateDirectory.Failure else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(files(), before)
    }

    /// I-05: never "start empty", and never for the wrong user.
    func testDamagedUsersFileIsRefusedAndNotTouched() throws {
        let rows = [
            "", "{", "[]", "{}", "null", #"{"users":[]} x"#, #"{"users":[{}]}"#,
            #"{"users":[{"directory":0}]}"#,
            #"{"users":[{"directory":-1,"name":"a"}]}"#, #"{"users":[{"directory":"1"}]}"#,
            #"{"users":[{"directory":1,"name":"a"},{"directory":1,"name":"b"}]}"#,
            String(decoding: Self.users.dropLast(4), as: UTF8.self),
        ]
        for row in rows {
            fileSystem.place(Array(row.utf8), at: "/d/users.json")
            XCTAssertThrowsError(try directory().release(), row) { error in
                guard case .unreadable? = error as? StateDirectory.Failure else {
                    return XCTFail("\(row): \(error)")
                }
            }
            XCTAssertEqual(fileSystem.bytes(at: "/d/users.json"), Array(row.utf8), row)
        }
    }

    func testMutatedUsersFileNeverTraps() {
        var random = SeededBytes(seed: 3)
        for _ in 0..<400 {
            var bytes = Self.users
            for _ in 0...random.below(3) { random.mutate(&bytes) }
            fileSystem.place(bytes, at: "/d/users.json")
            do { try directory().release() } catch is StateDirectory.Failure {} catch { XCTFail("\(error)") }
        }
    }

    func testDiskThatFailsIsReportedAndLeavesTheLock() throws {
        for operation in [FileError.Operation.createDirectory, .lock, .look] {
            fileSystem.fail(operation, code: EIO)
            XCTAssertThrowsError(try directory(), operation.rawValue) { error in
                guard case .unreadable? = error as? StateDirectory.Failure else {
                    return XCTFail("\(operation): \(error)")
                }
            }
            try directory().release()
        }
    }

    private static let users = Array(
        #"{"format":"codablesync-users","version":1,"users":[{"directory":1,"name":"alice"}]}"#.utf8
    )

    private func put(_ name: String, _ number: UInt64, _ store: JSONStateStore) throws {
        let entry = JournalEntry.fetched(name: name, KnownVersion(number))
        let contents = [ContentHandle(number): JournalSamples.record(name, "x")]
        try store.append([JournalBatch(batch: 1, entries: [entry], contents: contents, flush: true)])
    }
}
