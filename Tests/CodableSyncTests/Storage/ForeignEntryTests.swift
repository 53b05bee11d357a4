import RecordCoding
import XCTest

@testable import CodableSync

/// Lines of a state that say that it belongs to somebody else than it said before.
final class ForeignEntryTests: XCTestCase {
    private let files = SimulatedFileSystem()

    private func plant(_ entries: [JournalEntry]) throws {
        let store = try JSONStateStore.open(directory: "/state", fileSystem: files).store
        for entry in entries {
            let batch = JournalBatch(batch: 1, entries: [entry], contents: [:], flush: true)
            try store.append([batch])
        }
        store.close()
    }

    private func identity(_ zone: String) -> StateIdentity {
        StateIdentity(cloud: "c", scope: "private", container: nil, zone: zone, recordType: "T")
    }

    func testASecondClaimByAnotherUserIsDamage() throws {
        try plant([.made(for: identity("Z")), .claimed(by: "alice"), .claimed(by: "bob")])
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertEqual(opened.state.summary.user, "alice")
        XCTAssertEqual(opened.recovery.damages.map(\.reason), [.contents])
    }

    func testASecondIdentityIsDamage() throws {
        try plant([.made(for: identity("Z")), .claimed(by: "alice"), .made(for: identity("Y"))])
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertEqual(opened.state.summary.identity, identity("Z"))
        XCTAssertEqual(opened.recovery.damages.map(\.reason), [.contents])
    }

    /// What follows a foreign claim in the same file is the other user's as well.
    func testWhatFollowsAForeignClaimIsNotTaken() throws {
        let edit = JournalEntry.queued(name: "b", LocalChange(kind: .delete, edited: nil, base: nil))
        try plant([.made(for: identity("Z")), .claimed(by: "alice"), .claimed(by: "bob"), edit])
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertNil(opened.state["b"])
        XCTAssertEqual(opened.recovery.damages.count, 2)
    }

    func testTheSameClaimAndIdentityOnceMoreAreNoDamage() throws {
        try plant([
            .made(for: identity("Z")), .claimed(by: "alice"), .signedOut(removing: false),
            .claimed(by: "alice"), .made(for: identity("Z")),
        ])
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertFalse(opened.recovery.isDamaged)
        XCTAssertNil(opened.state.summary.signOut)
    }
}
