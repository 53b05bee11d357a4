import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// A handle named by any line is never reused, even if the line with its contents is lost.
final class NamedHandleTests: XCTestCase {
    private let journal = "/state/journal-1.jsonl"

    private let states = RowStates()

    private func open(_ files: SimulatedFileSystem) throws -> JSONStateStore.Opened {
        try JSONStateStore.open(directory: "/state", fileSystem: files)
    }

    private func put(
        _ entry: StateChange,
        _ store: JSONStateStore,
        _ contents: [UInt64: String] = [:]
    ) throws {
        var records: [ContentHandle: Record] = [:]
        for (handle, name) in contents { records[ContentHandle(handle)] = JournalSamples.record(name, "x") }
        try states.put(entry, records, in: store)
    }

    private func edit(
        _ handle: UInt64,
        base: UInt64? = nil,
        contested: UInt64? = nil,
        side: UInt64? = nil
    ) -> LocalChange {
        var change = LocalChange(
            kind: .save(ContentHandle(handle), size: 9),
            edited: nil,
            base: base.map { ContentHandle($0) },
            contested: contested.map { ContentHandle($0) }
        )
        change.on.sides = side.map { [.init(edit: ContentHandle($0), ancestor: 5)] } ?? []
        return change
    }

    private func known(_ handle: UInt64) -> KnownVersion {
        KnownVersion(changeTag: "t", handle: ContentHandle(handle), hash: 1, modified: nil)
    }

    /// Later handles would soon be used up.
    func testARowWithNothingButAVersionAndAHandleThatIsTooFarIsDamage() throws {
        let files = SimulatedFileSystem()
        let store = try open(files).store
        try put(.fetched(name: "a", KnownVersion(1 << 60)), store)
        store.close()
        let opened = try open(files)
        XCTAssertEqual(opened.recovery.damages.map(\.reason), [.contents])
        XCTAssertEqual(opened.nextHandle, 1)
    }

    func testTheNextHandleIsHigherThanEveryNamedHandle() throws {
        var records: [RecordState] = []
        for change in [
            { $0.sent = [SentVersion(handle: 900, base: nil)] },
            { $0.sent = [SentVersion(handle: 1, base: 900)] },
            { $0.pending = LocalChange(kind: .delete, edited: nil, base: 900) },
            { $0.pending = self.edit(5, base: 5, contested: 900) },
            { $0.pending = self.edit(5, base: 5, contested: 5, side: 900) },
            { $0.server = .deleted(900) },
            { $0.carried = CarriedTags([.init("t", 900)]) },
            { $0.carried = CarriedTags([.init("t", 5)], ownBase: 900) },
            { record in
                record.pending = self.edit(5, base: 5)
                record.pending?.earlier = [900]
            },
            { record in
                record.pending = self.edit(5)
                record.pending?.on.origin = .lost(EditBase.Lost(900, isUploadedAgain: false))
            },
            { $0.kept = self.known(900) },
            { $0.server = .known(self.known(900)) }, { $0.server = .lost(self.known(900)) },
        ] as [(inout RecordState) -> Void] {
            var record = RecordState()
            change(&record)
            records.append(record)
        }
        for record in records {
            let files = SimulatedFileSystem()
            let store = try open(files).store
            let row = StateRow.record("a", type: testType, record)
            let batch = JournalBatch(rows: [row], contents: [:], flush: true)
            try store.append(batch, leaving: SyncState())
            store.close()
            let opened = try open(files)
            XCTAssertEqual(opened.nextHandle, 901, "\(record)")
            opened.store.close()
        }
    }

    /// The files of a record that was sent, with damage to the line of its edit.
    private func prepareLostEdit() throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem()
        let store = try open(files).store
        try put(.fetched(name: "a", known(5)), store, [5: "a"])
        try put(.queued(name: "a", edit(17, base: 5)), store, [17: "a"])
        try put(.sendBegan([SendItem(name: "a", handle: 17)]), store)
        store.close()
        var bytes = try XCTUnwrap(files.bytes(at: journal))
        let contents = try XCTUnwrap(bytes.firstRange(of: Array("[17,\"".utf8)))
        bytes[contents.upperBound + 30] ^= 1
        files.place(bytes, at: journal)
        return files
    }

    func testAnEditAfterDamageIsKeptByACompaction() throws {
        let files = try prepareLostEdit()
        let opened = try open(files)
        states.note(opened)
        XCTAssertEqual(opened.recovery.damages.count, 1)
        for row in opened.repairs { try put(.row(row), opened.store) }
        let next = opened.nextHandle
        try put(.queued(name: "b", edit(next)), opened.store, [next: "b"])
        try opened.store.compact()
        opened.store.close()
        let again = try open(files)
        XCTAssertEqual(again.recovery.damages, [])
        XCTAssertEqual(again.state["b"]?.pending, edit(next))
        XCTAssertEqual(try again.store.load([ContentHandle(next)]).count, 1)
    }

    /// Lost contents cannot be compared with anything.
    func testASentVersionWithLostContentsIsForgotten() throws {
        let opened = try open(prepareLostEdit())
        var state = opened.state
        for row in opened.repairs { state.apply(row: row) }
        XCTAssertEqual(state["a"]?.sent, [])
    }

    func testContestedFieldsSurviveACompaction() throws {
        let files = SimulatedFileSystem()
        let store = try open(files).store
        try put(.fetched(name: "a", known(5)), store, [5: "a"])
        try put(.edited(name: "a", edit(17, base: 5, contested: 18)), store, [17: "a", 18: "a"])
        try store.compact()
        store.close()
        let again = try open(files)
        XCTAssertEqual(again.state["a"]?.pending, edit(17, base: 5, contested: 18))
        XCTAssertNotNil(try again.store.load([18])[18])
    }

    /// Without its contested fields, a draft would look like an edit of the newest version.
    func testADraftWithLostContestedFieldsBecomesAnEditWithoutABase() throws {
        let files = try prepareLostEdit()
        let damaged = try open(files)
        states.note(damaged)
        let store = damaged.store
        try put(.fetched(name: "b", known(30)), store, [30: "b"])
        try put(.edited(name: "b", edit(31, base: 30, contested: 32)), store, [31: "b"])
        store.close()
        let opened = try open(files)
        var state = opened.state
        for row in opened.repairs { state.apply(row: row) }
        XCTAssertEqual(state["b"]?.pending, edit(31))
        XCTAssertNil(state["b"]?.known)
    }

    /// What the edit changed is then unknown.
    func testALostBaseWithLostContentsIsForgotten() throws {
        let files = try prepareLostEdit()
        let damaged = try open(files)
        states.note(damaged)
        var change = edit(31)
        change.on.origin = .lost(EditBase.Lost(32, isUploadedAgain: true))
        try put(.queued(name: "b", change), damaged.store, [31: "b"])
        damaged.store.close()
        let opened = try open(files)
        XCTAssertEqual(opened.state["b"]?.pending?.on.lost?.version, 32)
        var state = opened.state
        for row in opened.repairs { state.apply(row: row) }
        XCTAssertEqual(state["b"]?.pending, edit(31))
    }

    func testASnapshotHoldsTheContentsOfAHandleOnce() throws {
        let files = SimulatedFileSystem()
        let store = try open(files).store
        var sent = RecordState()
        sent.sent = [SentVersion(handle: 17, base: nil)]
        try put(.record(name: "a", sent), store)
        try put(.queued(name: "b", edit(17)), store, [17: "b"])
        try store.compact()
        store.close()
        let again = try open(files)
        XCTAssertEqual(again.recovery.damages, [])
        XCTAssertEqual(again.state["b"]?.pending, edit(17))
        XCTAssertEqual(try again.store.load([17]).count, 1)
    }

    /// Snapshot lines are ordered by name, so the highest handle may come first.
    func testHandlesAfterALargeGapSurviveACompaction() throws {
        let jump: UInt64 = 1 << 48
        let files = SimulatedFileSystem()
        let store = try open(files).store
        try put(.queued(name: "z", edit(16)), store, [16: "z"])
        for (name, handle) in [("c", jump + 16), ("b", jump + 17), ("a", 2 * jump + 10)] {
            try put(.queued(name: name, edit(handle)), store, [handle: name])
        }
        try store.compact()
        store.close()
        for _ in 0..<2 {
            let again = try open(files)
            XCTAssertEqual(again.recovery.damages, [])
            XCTAssertEqual(again.state.sortedNames, ["a", "b", "c", "z"])
            XCTAssertEqual(again.nextHandle, 2 * jump + 11)
            XCTAssertEqual(try again.store.load([16, ContentHandle(2 * jump + 10)]).count, 2)
            try again.store.compact()
            again.store.close()
        }
    }

    /// A count read from a file must leave room for the ones that follow.
    func testACountWithoutRoomForTheNextOnesIsDamage() {
        for count in [UInt64(1) << 62 - 1, 1 << 61] {
            for line in [
                #"{"summary":{"lastNumber":\#(count)}}"#, #"{"zone":1,"zoneState":{"listing":\#(count)}}"#,
            ] {
                XCTAssertThrowsError(try JournalLine.parse(Array(line.utf8)), line)
            }
        }
    }
}
