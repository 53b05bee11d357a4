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

    func testANewUsersStateIsTheLastOneOnlyBehindTheSwitch() throws {
        let first = try directory()
        try makeAlice(first)
        let bob = try first.open(for: "bob")
        XCTAssertEqual(bob.state.summary.user, "bob")
        XCTAssertEqual(bob.state.sortedNames, [])
        first.release()
        XCTAssertEqual(try lastUser(), "alice")

        let second = try directory()
        try enter("bob", in: second)
        second.release()
        XCTAssertEqual(try lastUser(), "bob")
        let third = try directory()
        XCTAssertEqual(try third.open(for: "alice").state.sortedNames, ["A"])
        third.release()

        let fourth = try directory()
        try enter("alice", in: fourth)
        fourth.release()
        XCTAssertEqual(try lastUser(), "alice")
    }

    func testASwitchThatCannotBeStoredDoesNotTakeEffect() throws {
        let first = try directory()
        try makeAlice(first)
        var bob = try first.open(for: "bob")
        fileSystem.fail(.create, code: ENOSPC)
        XCTAssertThrowsError(
            try bob.store.enter(&bob.state, from: "alice", after: 1, startsOver: true)
        ) { error in
            guard case .storageFull? = error as? JournalFailure else { return XCTFail("\(error)") }
        }
        XCTAssertNil(bob.state.summary.untoldSwitch)
        first.release()
        XCTAssertEqual(try lastUser(), "alice")
    }

    /// I-41: who is the last user, whom to name, and the reset for the app's loops are one write.
    func testAfterAPowerFailureInASwitchAllOfItIsStoredOrNothing() throws {
        let first = try directory()
        try makeAlice(first)
        first.release()
        let before = fileSystem
        var last: [String?] = []
        for call in 0... {
            let files = before.crashed(keeping: .onlySynced)
            files.powerOff(at: call, call.isMultiple(of: 2) ? .after : .torn)
            fileSystem = files
            do {
                let directory = try directory()
                var bob = try directory.open(for: "bob")
                try bob.store.enter(&bob.state, from: "alice", after: 1, startsOver: true)
            } catch {}
            fileSystem = files.crashed(keeping: .onlySynced)
            let summary = try lastState().summary
            let isEntered = summary.user == "bob"
            XCTAssertEqual(
                summary.untoldSwitch,
                isEntered ? UntoldSwitch(from: "alice") : nil,
                "call \(call)"
            )
            XCTAssertEqual(try lastState().streams.replay == .reset, isEntered, "call \(call)")
            last.append(summary.user)
            if files.calls.count <= call { break }
        }
        XCTAssertEqual(Set(last), ["alice", "bob"])
        XCTAssertEqual(last.last, "bob")
    }

    /// A crash between creating a state and the switch to it leaves a state that is not the last one.
    func testAStateThatWasNotEnteredIsOpenedOnlyForItsUser() throws {
        let first = try directory()
        try makeAlice(first)
        let bob = try first.open(for: "bob")
        states.note(bob)
        try put("B", 2, bob.store)
        first.release()
        let second = try directory()
        XCTAssertEqual(try second.openLast().state.summary.user, "alice")
        XCTAssertEqual(try second.open(for: "carol", beside: 1).number, 3)
        XCTAssertEqual(try second.open(for: "bob", beside: 1).state.sortedNames, ["B"])
    }

    func testTheNumberOfSwitchesHasALimit() throws {
        let first = try directory()
        var opened = try first.openLast()
        let last = UInt64(JSONReader.counterLimit) - 2
        try opened.store.enter(&opened.state, from: nil, after: last, startsOver: false)
        XCTAssertThrowsError(try opened.store.enter(&opened.state, from: nil, after: 0, startsOver: false))
        opened.store.close()
        XCTAssertEqual(try first.openLast().state.summary.switchCount, last + 1)
        first.release()
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
        let directory = try directory()
        XCTAssertThrowsError(try directory.openLast()) { error in
            guard case .tooNew? = error as? StateDirectory.Failure else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(files(), before)
    }

    func testADiskFailureIsReportedAndReleasesTheLock() throws {
        for operation in [FileError.Operation.createDirectory, .lock] {
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

    private func makeAlice(_ directory: StateDirectory) throws {
        let opened = try directory.openLast()
        states.note(opened)
        try put("A", 1, opened.store)
        try states.put(.claimed(by: "alice"), in: opened.store)
        opened.store.close()
    }

    private func enter(_ user: String, in directory: StateDirectory) throws {
        let count = try lastSummary(directory).switchCount
        var opened = try directory.open(for: user)
        try opened.store.enter(&opened.state, from: nil, after: count, startsOver: false)
        opened.store.close()
    }

    private func lastSummary(_ directory: StateDirectory) throws -> StateSummary {
        let opened = try directory.openLast()
        opened.store.close()
        return opened.state.summary
    }

    /// The state that the next start opens.
    private func lastState() throws -> SyncState {
        let directory = try directory()
        defer { directory.release() }
        let opened = try directory.openLast()
        defer { opened.store.close() }
        return opened.state
    }

    private func lastUser() throws -> String? { try lastState().summary.user }

    private func put(_ name: String, _ number: UInt64, _ store: JSONStateStore) throws {
        let entry = StateChange.fetched(name: name, KnownVersion(number))
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
