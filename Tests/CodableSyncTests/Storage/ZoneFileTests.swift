import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Zones in the files of a state: journal, snapshot and compaction keep them apart.
final class ZoneFileTests: XCTestCase {
    private var files = SimulatedFileSystem()
    private let states = RowStates()
    private let own = RecordKey(zone: .first, name: "A")
    private let other = RecordKey(zone: ZoneNumber(2), name: "A")
    private let shared = ZoneID(zoneName: "Z", ownerName: "bob")

    private func open() throws -> JSONStateStore.Opened {
        try JSONStateStore.open(directory: "/state", fileSystem: files)
    }

    private func put(
        _ entry: StateChange,
        _ contents: [ContentHandle: Record] = [:],
        _ store: JSONStateStore
    ) throws {
        try states.put(entry, contents, in: store)
    }

    private func fetched(_ key: RecordKey, _ type: ExactName, _ number: UInt64, in store: JSONStateStore)
        throws
    {
        let record = JournalSamples.record("A", "text \(number)")
        try put(
            .fetched(key, type: type, KnownVersion(number)),
            [ContentHandle(number): record],
            store
        )
    }

    func testJournalSnapshotAndCompactionKeepZonesApart() throws {
        let store = try open().store
        try put(.registered(1, "Z"), store: store)
        try put(.registered(ZoneNumber(2), shared), store: store)
        try fetched(own, "Place", 1, in: store)
        try fetched(other, "Tour", 2, in: store)
        try put(.page(ZoneNumber(2), token: ChangeToken("p"), isComplete: true), store: store)
        store.close()
        for isCompacted in [false, true, true] {
            let opened = try open()
            XCTAssertFalse(opened.recovery.isDamaged)
            XCTAssertEqual(opened.state[own]?.known?.handle, 1, "compacted: \(isCompacted)")
            XCTAssertEqual(opened.state[other]?.known?.handle, 2, "compacted: \(isCompacted)")
            XCTAssertEqual(opened.state.recordType(of: own), "Place")
            XCTAssertEqual(opened.state.recordType(of: other), "Tour")
            XCTAssertEqual(opened.state.number(of: ZoneID(zoneName: "Z")), .first)
            XCTAssertEqual(opened.state.number(of: shared), ZoneNumber(2))
            XCTAssertNil(opened.state.zone(.first).token)
            XCTAssertEqual(opened.state.zone(ZoneNumber(2)).token, ChangeToken("p"))
            XCTAssertEqual(try opened.store.load([1, 2]).count, 2)
            XCTAssertEqual(opened.state.brokenInvariants(), [])
            try opened.store.compact()
            opened.store.close()
        }
    }

    private func put(_ entry: StateChange, store: JSONStateStore) throws { try put(entry, [:], store) }

    /// Contents are found by handles, so what one zone's record drops is not taken from the other's.
    func testACompactionKeepsTheContentsOfEachZone() throws {
        let store = try open().store
        try put(.registered(1, "Z"), store: store)
        try put(.registered(ZoneNumber(2), shared), store: store)
        try fetched(own, "Place", 1, in: store)
        try fetched(other, "Place", 2, in: store)
        try fetched(own, "Place", 3, in: store)
        try put(.deletionFetched(own), store: store)
        for _ in 0..<2 {
            try store.compact()
            let contents = try store.load([1, 2, 3])
            XCTAssertEqual(contents[2]?.fields["text"], "text 2")
            XCTAssertNil(contents[1])
        }
        store.close()
        let opened = try open()
        XCTAssertEqual(opened.state[other]?.known?.handle, 2)
        XCTAssertNil(opened.state[own]?.known)
        opened.store.close()
    }

    /// Damage to the line that registers a zone takes neither its records nor its number.
    func testAZoneWhoseRegistrationIsDamagedKeepsItsNumber() throws {
        for isCompacted in [false, true] {
            files = SimulatedFileSystem()
            let store = try open().store
            try put(.registered(1, "Z"), store: store)
            try put(.registered(ZoneNumber(2), shared), store: store)
            try fetched(other, "Place", 2, in: store)
            if isCompacted { try store.compact() }
            store.close()
            try damage("\"bob\"")
            let opened = try open()
            XCTAssertTrue(opened.recovery.isDamaged)
            XCTAssertEqual(opened.state.number(of: ZoneID(zoneName: "Z")), .first)
            XCTAssertNil(opened.state.number(of: shared), "compacted: \(isCompacted)")
            XCTAssertEqual(opened.state[other]?.known?.handle, 2, "compacted: \(isCompacted)")
            XCTAssertNil(opened.state[own])
            XCTAssertEqual(opened.state.numberForNewZone(), ZoneNumber(2), "the zone is registered again")
            opened.store.close()
        }
    }

    /// Changes a byte of each file that has this text.
    private func damage(_ text: String) throws {
        var count = 0
        for (path, bytes) in files.files.sorted(by: { $0.key < $1.key }) {
            guard let range = bytes.firstRange(of: Array(text.utf8)) else { continue }
            var damaged = bytes
            damaged[range.lowerBound + 1] ^= 1
            files.place(damaged, at: path)
            count += 1
        }
        XCTAssertEqual(count, 1)
    }
}
