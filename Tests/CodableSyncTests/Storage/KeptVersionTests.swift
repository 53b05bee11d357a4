import RecordCoding
import XCTest

@testable import CodableSync

/// Versions that are too new, and the readable ones that are kept beside them, on disk.
final class KeptVersionTests: XCTestCase {
    private func open(_ files: SimulatedFileSystem) throws -> JSONStateStore.Opened {
        try JSONStateStore.open(directory: "/state", fileSystem: files)
    }

    private let states = RowStates()

    private func put(_ entry: StateChange, _ store: JSONStateStore, _ handles: UInt64...) throws {
        var contents: [ContentHandle: Record] = [:]
        for handle in handles { contents[ContentHandle(handle)] = JournalSamples.record("a", "\(handle)") }
        try states.put(entry, contents, in: store)
    }

    /// A record with a readable version, an edit of it, and a version that is too new.
    private func prepare(_ files: SimulatedFileSystem) throws -> JSONStateStore {
        let store = try open(files).store
        try put(.fetched(name: "a", KnownVersion(1)), store, 1)
        let edit = LocalChange(kind: .save(2, size: 1), edited: nil, base: 1)
        try put(.queued(name: "a", edit), store, 2)
        try put(.fetched(name: "a", KnownVersion(3, schema: 2)), store, 3)
        let gap = NewerSchema(found: SchemaVersion(2), known: .first)
        try put(.parked(name: "a", gap.reasonToPark(isDeletion: false)), store)
        return store
    }

    func testTheKeptVersionSurvivesACompaction() throws {
        let files = SimulatedFileSystem()
        let store = try prepare(files)
        try put(.discarded(name: "a"), store)
        try store.compact()
        store.close()
        let again = try open(files)
        XCTAssertEqual(again.recovery.damages, [])
        XCTAssertEqual(again.state["a"]?.readable, KnownVersion(1))
        XCTAssertEqual(again.state["a"]?.known?.schema, SchemaVersion(2))
        XCTAssertEqual(again.state["a"]?.isTooNew, true)
        XCTAssertEqual(try again.store.load([1, 3]).count, 2)
    }

    func testWhatTheAppCanReadSurvivesACompaction() throws {
        let files = SimulatedFileSystem()
        let store = try prepare(files)
        let schema = ReadableSchema(type: testType, version: SchemaVersion(2))
        for isCompacted in [false, true] {
            try put(.readable(schema), store)
            if isCompacted { try store.compact() }
            let state = try open(files.crashed(keeping: .allWrites)).state
            XCTAssertEqual(state.summary.schemas, [schema])
            XCTAssertEqual(state["a"]?.isTooNew, false)
            XCTAssertNil(state["a"]?.kept)
        }
    }

    private func repaired(breaking lines: [String]) throws -> SyncState {
        let files = SimulatedFileSystem()
        try prepare(files).close()
        return try repaired(files, breaking: lines)
    }

    private func repaired(_ files: SimulatedFileSystem, breaking lines: [String]) throws -> SyncState {
        let path = "/state/journal-1.jsonl"
        var bytes = try XCTUnwrap(files.bytes(at: path))
        for line in lines {
            let range = try XCTUnwrap(bytes.firstRange(of: Array(line.utf8)), line)
            bytes[range.lowerBound + 3] ^= 1
        }
        files.place(bytes, at: path)
        let opened = try open(files)
        XCTAssertFalse(opened.recovery.damages.isEmpty)
        XCTAssertEqual(opened.state.sendQueue.count, 0)
        XCTAssertEqual(opened.state.conflictQueue.count, 0)
        var state = opened.state
        for row in opened.repairs { state.apply(row: row) }
        XCTAssertEqual(state.brokenInvariants(), [])
        return state
    }

    /// The edit must not be sent, nor dropped, until everything is fetched again.
    func testALostBaseOfAParkedEditLeavesItParked() throws {
        let state = try repaired(breaking: [#"{"zone":1,"name":"a","record""#])
        XCTAssertEqual(state["a"]?.isTooNew, true)
        XCTAssertNil(state["a"]?.kept)
        XCTAssertEqual(state["a"]?.pending?.handle, 2)
        XCTAssertNil(state["a"]?.pending?.base)
        XCTAssertNotNil(state["a"]?.pending?.parked)
    }

    /// Without the reason, the change would be sent over the newer version.
    func testALostReasonDoesNotSendTheChange() throws {
        for isDeletion in [false, true] {
            let files = SimulatedFileSystem()
            let store = try prepare(files)
            if isDeletion {
                try put(.queued(name: "a", LocalChange(kind: .delete, edited: nil, base: 1)), store)
            }
            store.close()
            let state = try repaired(files, breaking: [#""parked":{"#])
            XCTAssertEqual(state["a"]?.isTooNew, true)
            XCTAssertEqual(state["a"]?.pending?.isDeletion, isDeletion)
            XCTAssertEqual(state["a"]?.pending?.parked?.kind, .serverValueUndecodable)
            XCTAssertEqual(state.sendQueue.count, 0)
            XCTAssertEqual(state.conflictQueue.count, 0)
        }
    }

    func testAMalformedNewerVersionLeavesTheKeptOne() throws {
        let line =
            #"{"zone":1,"name":"a","record":{"type":"T","known":{"tag":7},"kept":{"tag":"t1","handle":1,"hash":1}}}"#
        let parsed = try JournalLine.parse(Array(line.utf8))
        XCTAssertEqual(parsed.problems.count, 1)
        guard case .record(_, _, let record?) = parsed.row else { return XCTFail(line) }
        XCTAssertEqual(record.known?.handle, 1)
        XCTAssertNil(record.kept)
    }

    /// Damages a file in which the line of a version has no contents.
    private func repaired(without handle: UInt64) throws -> SyncState {
        let files = SimulatedFileSystem()
        let store = try open(files).store
        for version in [KnownVersion(1), KnownVersion(3, schema: 2)] {
            let number = version.handle.number
            let entry = StateChange.fetched(name: "a", version)
            if number == handle { try put(entry, store) } else { try put(entry, store, number) }
        }
        try put(.fetched(name: "b", KnownVersion(4)), store, 4)
        store.close()
        return try repaired(files, breaking: [#"{"zone":1,"name":"b""#])
    }

    func testLostContentsOfTheNewerVersionLeaveTheKeptOne() throws {
        let state = try repaired(without: 3)
        XCTAssertEqual(state["a"]?.known?.handle, 1)
        XCTAssertEqual(state.shownHandle(of: "a"), 1)
        XCTAssertNil(state["a"]?.kept)
    }

    func testLostContentsOfTheKeptVersionLeaveTheNewerOne() throws {
        let state = try repaired(without: 1)
        XCTAssertEqual(state["a"]?.known?.handle, 3)
        XCTAssertNil(state["a"]?.kept)
        XCTAssertNil(state.shownHandle(of: "a"))
    }
}
