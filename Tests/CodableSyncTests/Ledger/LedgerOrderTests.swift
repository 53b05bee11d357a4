import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// Which entries a ledger accepts when it reads them: those whose result it can write and read again.
final class LedgerOrderTests: XCTestCase {
    private static let zones: [ZoneID] = [.default, "A", "B"]
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)

    private func entry(_ change: LedgerEntry.Change, _ sequence: Int64? = nil) -> LedgerEntry {
        LedgerEntry(user: "alice", change: change, sequence: sequence)
    }

    private func saved(_ name: String, in zone: ZoneID, _ sequence: Int64) -> LedgerEntry {
        let id = RecordID(recordName: name, zoneID: zone)
        let record = Record(recordType: "Note", recordID: id, fields: ["text": .string(name)])
        return entry(.recordSaved(record), sequence)
    }

    private func deleted(_ name: String, in zone: ZoneID, _ sequence: Int64) -> LedgerEntry {
        entry(.recordDeleted(recordName: name, zone: zone, recordType: "Note"), sequence)
    }

    private func created(_ zone: ZoneID, _ sequence: Int64) -> LedgerEntry {
        entry(.zoneCreated(zone), sequence)
    }

    private func removed(_ zone: ZoneID, _ sequence: Int64) -> LedgerEntry {
        entry(.zoneRemoved(zone, reason: .purged, canBeRecreated: true), sequence)
    }

    /// Applies the entries that can follow, and returns their number.
    private func take(
        _ entries: some Sequence<LedgerEntry>,
        inSnapshot isInSnapshot: Bool = false,
        into ledger: inout CloudLedger
    ) -> Int {
        var count = 0
        for entry in entries {
            guard ledger.canFollow(entry, isInSnapshot: isInSnapshot) else { continue }
            ledger.apply(entry)
            count += 1
        }
        return count
    }

    /// How many of the entries can follow, in a journal and in a snapshot.
    private func counts(_ entries: [LedgerEntry]) -> [Int] {
        [false, true].map { isInSnapshot in
            var ledger = CloudLedger(identifier: "test")
            let beginning = [entry(.countersAdvanced(sequence: 99, modificationDate: nil))]
            if isInSnapshot { _ = take(beginning, inSnapshot: true, into: &ledger) }
            return take(entries, inSnapshot: isInSnapshot, into: &ledger)
        }
    }

    func testNoChangeFollowsInARemovedZone() {
        for last in [saved("a", in: "A", 3), deleted("a", in: "A", 3)] {
            XCTAssertEqual(counts([created("A", 1), removed("A", 2), last]), [2, 2])
        }
    }

    func testNoChangeFollowsInAMissingZone() {
        XCTAssertEqual(counts([saved("a", in: "A", 3)]), [0, 0])
        XCTAssertEqual(counts([deleted("a", in: "A", 3)]), [0, 0])
        XCTAssertEqual(counts([removed("A", 3)]), [0, 0])
    }

    func testAnExistingZoneIsNotCreatedAgain() {
        XCTAssertEqual(counts([created("A", 1), saved("a", in: "A", 2), created("A", 3)]), [2, 2])
    }

    func testTheDefaultZoneIsNotRemoved() {
        let zone = ZoneID.default
        XCTAssertEqual(counts([created(zone, 1), removed(zone, 2)]), [1, 1])
    }

    func testNoChangeHasTheSequenceBeforeTheFirst() {
        XCTAssertEqual(counts([saved("a", in: .default, 0)]), [0, 0])
        XCTAssertEqual(counts([created("A", 0), saved("a", in: "A", 0)]), [0, 1])
    }

    func testASnapshotMustStartWithTheHighestSequence() {
        var ledger = CloudLedger(identifier: "test")
        XCTAssertEqual(take([created("A", 1)], inSnapshot: true, into: &ledger), 0)
    }

    func testEveryEntryThatALedgerWritesCanFollow() {
        var fixture = LedgerFixture()
        fixture.save(LedgerFixture.record("a"))
        fixture.modify(deleting: ["a"])
        fixture.perform(.removeZone(LedgerFixture.zoneID, reason: .encryptedDataReset))
        fixture.perform(.modifyRecordZones(saving: [], deleting: [LedgerFixture.zoneID]))
        fixture.perform(
            .modifyRecordZones(saving: [RecordZone(zoneID: LedgerFixture.zoneID)], deleting: [])
        )
        fixture.save(LedgerFixture.record("b"))
        fixture.perform(.expireTokens(nil))
        var ledger = CloudLedger(identifier: "test")
        XCTAssertEqual(take(fixture.entries, into: &ledger), fixture.entries.count)
    }

    // MARK: Random entries

    /// A random entry with few names and numbers, so that entries often affect the same record.
    private func randomEntry(_ random: inout CodableSync.SplitMix64) -> LedgerEntry {
        func below(_ count: Int64) -> Int64 { Int64(random.next() % UInt64(count)) }
        let zone = Self.zones[Int(below(3))]
        let name = ["a", "b"][Int(below(2))]
        let sequence = below(24)
        switch below(8) {
        case 0, 1: return saved(name, in: zone, sequence)
        case 2: return deleted(name, in: zone, sequence)
        case 3, 4: return created(zone, sequence)
        case 5: return removed(zone, sequence)
        case 6: return entry(.tokensExpired(zone: below(3) == 0 ? nil : zone), sequence)
        default:
            return below(2) == 0
                ? entry(.epochBegan(random.next(), sequence: sequence))
                : entry(.countersAdvanced(sequence: sequence, modificationDate: nil))
        }
    }

    /// A ledger that has read many random entries, the first ones from a snapshot.
    private func randomLedger(seed: UInt64) -> CloudLedger {
        var random = CodableSync.SplitMix64(seed: seed)
        var ledger = CloudLedger(identifier: "test")
        for isInSnapshot in [true, false] {
            let entries = (0..<30).map { _ in randomEntry(&random) }
            let ordered = isInSnapshot ? entries : entries.sorted { ($0.number ?? 0) < ($1.number ?? 0) }
            _ = take(ordered, inSnapshot: isInSnapshot, into: &ledger)
        }
        return ledger
    }

    /// The ledger that is read from another one's snapshot; `nil` if an entry cannot follow.
    private func readAgain(_ ledger: CloudLedger) -> CloudLedger? {
        var read = CloudLedger(identifier: "test")
        let entries = Array(ledger.snapshotEntries())
        return take(entries, inSnapshot: true, into: &read) == entries.count ? read : nil
    }

    private static let seeds: Range<UInt64> = 0..<Cases.sample(40, of: 5_000)

    func testTheSnapshotOfARandomLedgerCanBeRead() {
        for seed in Self.seeds {
            let ledger = randomLedger(seed: seed)
            guard let read = readAgain(ledger) else { return XCTFail("seed \(seed)") }
            XCTAssertEqual(Array(read.snapshotEntries()), Array(ledger.snapshotEntries()), "seed \(seed)")
        }
    }

    func testTheCountsOfARandomLedgerMatchItsSnapshot() throws {
        for seed in Self.seeds {
            let ledger = randomLedger(seed: seed)
            var read = CloudLedger(identifier: "test")
            for entry in ledger.snapshotEntries() { read.apply(entry) }
            XCTAssertEqual(read.usedBytes(of: "alice"), ledger.usedBytes(of: "alice"), "seed \(seed)")
            let counts = [read, ledger].map { $0.databases.values.map(\.head.zoneCount) }
            XCTAssertEqual(counts[0], counts[1], "seed \(seed)")
        }
    }

    func testEntriesWrittenByARandomLedgerCanFollow() {
        for seed in Self.seeds {
            var ledger = randomLedger(seed: seed)
            let ids = Self.zones
            let records = ids.map {
                Record(recordType: "Note", recordID: RecordID(recordName: "new", zoneID: $0))
            }
            let operations: [LedgerRequest.Operation] = [
                .modifyRecords(saving: records, deleting: [], savePolicy: .allKeys, atomically: false),
                .expireTokens(nil),
                .modifyRecordZones(saving: ids.map { RecordZone(zoneID: $0) }, deleting: []),
                .modifyRecords(
                    saving: [],
                    deleting: ids.map { RecordID(recordName: "a", zoneID: $0) },
                    savePolicy: .allKeys,
                    atomically: false
                ),
                .modifyRecordZones(saving: [], deleting: ids),
            ]
            for operation in operations {
                let request = LedgerRequest(user: "alice", operation: operation)
                let entries = ledger.handle(request, at: Self.date, epoch: 7).entries
                XCTAssertEqual(take(entries, into: &ledger), entries.count, "seed \(seed)")
            }
        }
    }
}

extension LedgerEntry {
    /// The sequence that the entry has or names.
    fileprivate var number: Int64? {
        switch change {
        case .epochBegan(_, let number), .countersAdvanced(let number, _): number
        default: sequence
        }
    }
}
