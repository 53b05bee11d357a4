import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The engine's directory: its single owner, and the user of each state.
final class StateDirectoryTests: XCTestCase {
    private let states = RowStates()
    private var fileSystem = SimulatedFileSystem()

    private func directory(
        _ change: (inout StateIdentity) -> Void = { _ in }
    ) throws -> StateDirectory {
        var identity = StateIdentity(
            cloud: "cloud-1",
            scope: "private",
            container: nil,
            zone: "Z",
            recordType: "T"
        )
        change(&identity)
        return try StateDirectory(path: "/d", identity: identity, fileSystem: fileSystem)
    }

    /// I-08.
    func testASecondOwnerIsRejectedUntilTheFirstReleasesTheDirectory() throws {
        let first = try directory()
        XCTAssertThrowsError(try directory()) { error in
            XCTAssertEqual(error as? StateDirectory.Failure, .inUse(by: "process 1"))
        }
        first.release()
        try directory().release()
    }

    /// Another directory would leave the edits of a renamed model behind.
    func testTheStateOfAnotherRecordTypeNamesThePropertyThatKeepsIt() throws {
        let first = try directory()
        try first.openLast().store.close()
        first.release()
        let rows: [((inout StateIdentity) -> Void, [String])] = [
            ({ ($0.zone, $0.recordType) = ("U", "U") }, ["record type \"T\"", #"String { "T" } to it"#]),
            ({ $0.recordType = "U" }, ["record type \"T\"", #"static var recordType: String { "T" }"#]),
            ({ $0.zone = "U" }, ["zone \"Z\"", "Give the engine another directory."]),
        ]
        for (change, parts) in rows {
            let other = try directory(change)
            XCTAssertThrowsError(try other.openLast()) { error in
                for part in parts { XCTAssertTrue(error.foreignText.contains(part), "\(part): \(error)") }
            }
            other.release()
        }
    }

    // MARK: Users

    func testAnUnclaimedStateIsOpenedAndCanBeClaimed() throws {
        let first = try directory()
        let opened = try first.openLast()
        XCTAssertNil(opened.state.summary.user)
        try put("A", 1, opened.store)
        try states.put(.claimed(by: "alice"), in: opened.store)
        first.release()
        let second = try directory().openLast()
        XCTAssertEqual(second.state.summary.user, "alice")
        XCTAssertEqual(second.state.sortedNames, ["A"])
    }

    func testANewUserBecomesTheLastUserOnlyWithTheCommit() throws {
        let first = try directory()
        try makeAlice(first)
        let bob = try first.open(for: "bob", leaving: nil)
        XCTAssertEqual(bob.state.summary.user, "bob")
        XCTAssertEqual(bob.state.sortedNames, [])
        first.release()
        XCTAssertEqual(try lastUser(), "alice")

        let second = try directory()
        _ = try second.openLast()
        try second.commit("bob", number: try second.open(for: "bob", leaving: nil).number)
        second.release()
        XCTAssertEqual(try lastUser(), "bob")
        let third = try directory()
        XCTAssertEqual(try third.open(for: "alice", leaving: nil).state.sortedNames, ["A"])
    }

    func testASwitchThatCannotBeStoredDoesNotTakeEffect() throws {
        let first = try directory()
        try makeAlice(first)
        let bob = try first.open(for: "bob", leaving: nil)
        fileSystem.fail(.create, code: ENOSPC)
        XCTAssertThrowsError(try first.commit("bob", number: bob.number)) { error in
            guard case .full? = error as? StateDirectory.Failure else { return XCTFail("\(error)") }
        }
        first.release()
        XCTAssertEqual(try lastUser(), "alice")
    }

    /// C24, I-39: the journal determines the owner, whatever the index says.
    func testAnotherUsersStateIsNotOpenedDespiteAWrongIndex() throws {
        let first = try directory()
        try makeAlice(first)
        first.release()
        let swapped = #"{"format":"codablesync-users","version":1,"users":[{"directory":1,"name":"bob"}]}"#
        fileSystem.place(Array(swapped.utf8), at: "/d/users.json")
        let second = try directory()
        let bob = try second.open(for: "bob", leaving: nil)
        XCTAssertEqual(bob.number, 2)
        XCTAssertEqual(bob.state.sortedNames, [])
        XCTAssertEqual(try second.open(for: "alice", leaving: nil).number, 1)
    }

    /// Without an index, the last user is the one whose state has the newest fetch.
    func testALostIndexIsRebuiltFromTheJournals() throws {
        for last in ["alice", "bob"] {
            fileSystem = SimulatedFileSystem()
            try makeTwo(last: last)
            try fileSystem.remove("/d/users.json")
            let second = try directory()
            XCTAssertEqual(try second.openLast().state.summary.user, last)
            XCTAssertEqual(try second.open(for: "alice", leaving: nil).number, 1)
            XCTAssertEqual(try second.open(for: "bob", leaving: nil).number, 2)
        }
    }

    /// A crash between creating a state and committing the switch leaves a directory that the index doesn't
    /// name.
    func testAnUnindexedDirectoryIsOpenedOnlyForItsOwner() throws {
        let first = try directory()
        try makeAlice(first)
        try put("B", 2, try first.open(for: "bob", leaving: nil).store)
        first.release()
        let second = try directory()
        _ = try second.openLast()
        XCTAssertEqual(try second.open(for: "carol", leaving: nil).number, 3)
        XCTAssertEqual(try second.open(for: "bob", leaving: nil).state.sortedNames, ["B"])
    }

    // MARK: Identity

    func testAStateOfAnotherCloudIsRejectedWithoutChanges() throws {
        let first = try directory { $0.container = "iCloud.a" }
        try makeAlice(first)
        first.release()
        let files = {
            self.fileSystem.names(in: "/d/users/1").map { self.fileSystem.bytes(at: "/d/users/1/\($0)") }
        }
        let before = files()
        let rows: [(String, (inout StateIdentity) -> Void)] = [
            ("\"cloud-2\"", { $0.cloud = "cloud-2" }), ("\"public\"", { $0.scope = "public" }),
            ("\"iCloud.b\"", { $0.container = "iCloud.b" }), ("\"Y\"", { $0.zone = "Y" }),
            ("\"U\"", { $0.recordType = "U" }),
        ]
        for (name, change) in rows {
            let second = try directory {
                $0.container = "iCloud.a"
                change(&$0)
            }
            XCTAssertThrowsError(try second.openLast()) { error in
                guard case .foreign(let detail)? = error as? StateDirectory.Failure else {
                    return XCTFail("\(name): \(error)")
                }
                XCTAssertTrue(detail.contains(name), detail)
            }
            second.release()
            XCTAssertEqual(files(), before, name)
        }
        // The container is compared only if both sides name one: an app may later name its default container.
        try directory().release()
        XCTAssertEqual(try lastUser(), "alice")
    }

    // MARK: Files

    /// I-47.
    func testANewerUsersFileIsRejectedWithoutChanges() throws {
        let bytes = Array(#"{"format":"codablesync-users","version":2,"users":{"a":1}}"#.utf8)
        fileSystem.place(bytes, at: "/d/users.json")
        XCTAssertThrowsError(try directory()) { error in
            guard case .tooNew? = error as? StateDirectory.Failure else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(fileSystem.bytes(at: "/d/users.json"), bytes)
        fileSystem.place(Self.users, at: "/d/users.json")
        XCTAssertEqual(try lastUser(), "alice", "the lock was released")
    }

    /// I-47.
    func testANewerStateIsRejectedWithoutChanges() throws {
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
        fileSystem.place(Self.users, at: "/d/users.json")
        let directory = try directory()
        XCTAssertThrowsError(try directory.openLast()) { error in
            guard case .tooNew? = error as? StateDirectory.Failure else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(files(), before)
    }

    /// I-05, C24: a damaged index never leads to an empty state or another user's, because each journal names
    /// its user.
    func testADamagedUsersFileIsQuarantinedAndRebuiltFromTheJournals() throws {
        let rows = [
            "", "{", "[]", "{}", "null", #"{"users":[]} x"#, #"{"users":[{}]}"#,
            #"{"users":[{"directory":0}]}"#,
            #"{"users":[{"directory":-1,"name":"a"}]}"#, #"{"users":[{"directory":"1"}]}"#,
            #"{"users":[{"directory":1,"name":"a"},{"directory":1,"name":"b"}]}"#,
            String(decoding: Self.users.dropLast(4), as: UTF8.self),
            #"{"users":[],"users":[{"directory":1,"name":"a"}]}"#,
            #"{"users":[{"directory":1,"directory":2,"name":"a"}]}"#,
            #"{"users":[{"directory":1,"name":"a"}],"untold":"b"}"#,
            #"{"users":[{"directory":1,"name":"a"}],"untold":{"from":2}}"#,
            #"{"users":[{"directory":1,"name":"a"}],"untold":{},"untold":{}}"#,
            #"{"users":[{"directory":1,"name":"a"}],"untold":{"from":"b","from":"c"}}"#,
            #"{"users":[{"directory":1,"name":"a"}],"untold":{"from":"b""#,
        ]
        for (last, row) in rows.flatMap({ [("alice", $0), ("bob", $0)] }) {
            fileSystem = SimulatedFileSystem()
            try makeTwo(last: last)
            fileSystem.place(Array(row.utf8), at: "/d/users.json")
            // Twice: the first time, the damaged file is only quarantined.
            try directory().release()
            let directory = try directory()
            let opened = try directory.openLast()
            XCTAssertEqual(opened.state.summary.user, last, row)
            let damage = try XCTUnwrap(directory.takeIndexDamage(), row)
            XCTAssertTrue(damage.contains("damaged-users.json-1"), damage)
            XCTAssertEqual(fileSystem.bytes(at: "/d/damaged-users.json-1"), Array(row.utf8), row)
            XCTAssertNil(fileSystem.bytes(at: "/d/damaged-users.json-2"), row)
            XCTAssertEqual(try directory.open(for: "alice", leaving: nil).number, 1, row)
            XCTAssertEqual(try directory.open(for: "bob", leaving: nil).number, 2, row)
            XCTAssertEqual(try directory.open(for: "carol", leaving: nil).number, 3, row)
            directory.release()
            let next = try self.directory()
            XCTAssertNil(next.takeIndexDamage(), row)
            next.release()
        }
    }

    func testADamagedUsersFileOfAnUnclaimedStateIsReportedOnce() throws {
        let first = try directory()
        try put("A", 1, try first.openLast().store)
        first.release()
        fileSystem.place([0], at: "/d/users.json")
        let second = try directory()
        XCTAssertEqual(try second.openLast().state.sortedNames, ["A"])
        XCTAssertNotNil(second.takeIndexDamage())
        second.release()
        let third = try directory()
        XCTAssertNil(third.takeIndexDamage())
        third.release()
        XCTAssertEqual(fileSystem.bytes(at: "/d/damaged-users.json-1"), [0])
    }

    func testADamagedUsersFileThatCannotBeQuarantinedIsNotChanged() throws {
        try makeTwo(last: "bob")
        fileSystem.place([0], at: "/d/users.json")
        fileSystem.fail(.create, code: ENOSPC)
        XCTAssertThrowsError(try directory()) { error in
            guard case .full? = error as? StateDirectory.Failure else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(fileSystem.bytes(at: "/d/users.json"), [0])
        XCTAssertEqual(try lastUser(), "bob", "the lock was released")
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

    func testADiskFailureIsReportedAndReleasesTheLock() throws {
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

    // MARK: Helpers

    private static let users = Array(
        #"{"format":"codablesync-users","version":1,"users":[{"directory":1,"name":"alice"}]}"#.utf8
    )

    private func makeAlice(_ directory: StateDirectory) throws {
        let opened = try directory.openLast()
        states.note(opened)
        try put("A", 1, opened.store)
        try states.put(.claimed(by: "alice"), in: opened.store)
        opened.store.close()
        try directory.commit("alice", number: opened.number)
    }

    /// Creates alice's state in the first directory and bob's in the second; `last` has the newer fetch.
    private func makeTwo(last: String) throws {
        let first = try directory()
        try makeAlice(first)
        for name in ["alice", "bob"] {
            let opened = try first.open(for: name, leaving: nil)
            states.note(opened)
            let date = Date(timeIntervalSince1970: name == last ? 2_000 : 1_000)
            try states.put(.fetchCompleted(date), in: opened.store)
            try first.commit(name, number: opened.number)
            opened.store.close()
        }
        first.release()
    }

    /// The user whose state the next start opens.
    private func lastUser() throws -> String? {
        let directory = try directory()
        defer { directory.release() }
        let opened = try directory.openLast()
        defer { opened.store.close() }
        return opened.state.summary.user
    }

    private func put(_ name: String, _ number: UInt64, _ store: JSONStateStore) throws {
        let entry = JournalEntry.fetched(name: name, KnownVersion(number))
        let contents = [ContentHandle(number): JournalSamples.record(name, "x")]
        try states.put(entry, contents, in: store)
    }
}

extension Error {
    /// The text about a directory that belongs to something else.
    fileprivate var foreignText: String {
        if case .foreign(let text)? = self as? StateDirectory.Failure { text } else { "" }
    }
}
