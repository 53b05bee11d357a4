import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Zones in the files of a state: journal, snapshot and compaction keep them apart.
final class ZoneFileTests: XCTestCase {
    private var files = SimulatedFileSystem()
    private let own = RecordKey(zone: .first, name: "A")
    private let other = RecordKey(zone: ZoneNumber(2), name: "A")
    private let shared = ZoneID(zoneName: "Z", ownerName: "bob")

    private func open() throws -> JSONStateStore.Opened {
        try JSONStateStore.open(directory: "/state", fileSystem: files)
    }

    private func put(
        _ entry: JournalEntry,
        _ contents: [ContentHandle: Record] = [:],
        _ store: JSONStateStore
    ) throws {
        try store.append([JournalBatch(batch: 1, entries: [entry], contents: contents, flush: true)])
    }

    private func fetched(_ key: RecordKey, _ type: ExactName, _ number: UInt64, in store: JSONStateStore)
        throws
    {
        let record = JournalSamples.record("A", "text \(number)")
        try put(
            .fetching(.fetched(key, type: type, KnownVersion(number))),
            [ContentHandle(number): record],
            store
        )
    }

    func testJournalSnapshotAndCompactionKeepZonesApart() throws {
        let store = try open().store
        try put(.registered(1, "Z"), store: store)
        try put(.zones(.registered(ZoneNumber(2), shared)), store: store)
        try fetched(own, "Place", 1, in: store)
        try fetched(other, "Tour", 2, in: store)
        try put(.fetching(.page(ZoneNumber(2), token: ChangeToken("p"), isComplete: true)), store: store)
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

    private func put(_ entry: JournalEntry, store: JSONStateStore) throws { try put(entry, [:], store) }

    /// A second number for a zone, or a second zone for a number, is damage.
    func testAContradictoryRegistrationIsDamage() throws {
        for wrong in [JournalEntry.registered(1, "Y"), .registered(3, "Z")] {
            files = SimulatedFileSystem()
            let store = try open().store
            try put(.registered(1, "Z"), store: store)
            try put(wrong, store: store)
            try put(.registered(1, "Z"), store: store)
            store.close()
            let opened = try open()
            XCTAssertEqual(opened.recovery.damages.map(\.reason), [.contents])
            XCTAssertEqual(opened.state.zones.numbers, [.first])
            XCTAssertEqual(opened.state.number(of: ZoneID(zoneName: "Z")), .first)
            opened.store.close()
        }
    }
}
