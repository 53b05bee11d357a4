import RecordCoding
import XCTest

@testable import CodableSync

/// Entries that claim a state for another user or identity than an earlier entry did.
final class ForeignEntryTests: XCTestCase {
    private let files = SimulatedFileSystem()

    private func plant(_ entries: [JournalEntry]) throws {
        let store = try JSONStateStore.open(directory: "/state", fileSystem: files).store
        var state = SyncState()
        for entry in entries { try store.append([JournalBatch([entry], in: &state)]) }
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

    /// Everything after a foreign claim in the same file belongs to the other user, too.
    func testEntriesAfterAForeignClaimAreIgnored() throws {
        let edit = JournalEntry.queued(name: "b", LocalChange(kind: .delete, edited: nil, base: nil))
        try plant([.made(for: identity("Z")), .claimed(by: "alice"), .claimed(by: "bob"), edit])
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertNil(opened.state["b"])
        XCTAssertEqual(opened.recovery.damages.count, 2)
    }

    func testARepeatedClaimOrIdentityIsNotDamage() throws {
        try plant([
            .made(for: identity("Z")), .claimed(by: "alice"), .signedOut(removing: false),
            .claimed(by: "alice"), .made(for: identity("Z")),
        ])
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertFalse(opened.recovery.isDamaged)
        XCTAssertNil(opened.state.summary.signOut)
    }
}
