import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// Random requests, which must be answered from rows as from a ledger in memory; ``LedgerFixture`` compares.
final class LedgerRowsScriptTests: XCTestCase {
    func testRandomRequestsAreAnsweredFromRowsAsInMemory() throws {
        for seed: UInt64 in 1...Cases.sample(20, of: 1000) {
            var script = LedgerScript(seed)
            for _ in 1...150 { script.step() }
            // What is derived from records follows each change, as if it was written anew.
            let anew = try ByteLedger(script.fixture.ledger).rows.contents
            XCTAssertEqual(script.fixture.rows.rows.contents, anew, "seed \(seed)")
            if let count = testRun?.totalFailureCount, count > 0 { return XCTFail("seed \(seed)") }
        }
    }
}

extension RowBytes {
    /// Everything but heads, of which a snapshot keeps less: it is shorter than the history.
    fileprivate var contents: [String: [UInt8]] {
        values.filter {
            $0.key.contains("/in/") || $0.key.contains("/subscription/") || $0.key.hasPrefix("types/")
        }
    }
}

/// Random requests of two users, with all kinds of references.
private struct LedgerScript {
    private(set) var fixture: LedgerFixture
    private var random: SplitMix64
    private var tokens: [ZoneID: [ChangeToken]] = [:]
    private var databaseTokens: [ChangeToken] = []
    private var tags: [RecordID: String] = [:]

    private static let zones = [LedgerFixture.zoneID, .default, ZoneID(zoneName: "B"), ZoneID(zoneName: "C")]
    private static let names = ["a", "b", "c", "d", "e", "f"]

    init(_ seed: UInt64) {
        random = SplitMix64(seed: seed)
        var options = LedgerOptions()
        options.enforcesSchema = Bool.random(using: &random)
        options.keepsParents = Bool.random(using: &random)
        options.bumpsParentTag = Bool.random(using: &random)
        options.listsOldDeletions = Bool.random(using: &random)
        options.resetZonesMustBeDeleted = Bool.random(using: &random)
        let limits = LedgerLimits(maximumPageSize: 4, maximumZones: 2, maximumDeleteSelfReferences: 2)
        fixture = LedgerFixture(limits: limits, options: options)
        fixture.epoch = 1
    }

    mutating func step() {
        fixture.date += 1
        let user = chance(8) ? "bob" : "alice"
        if chance(60) { fixture.epoch = fixture.epoch.map { $0 + 1 } }
        switch fixture.perform(operation(), user: user) {
        case .modifyRecords(let result):
            for case (let id, .success(let record)) in result.saveResults {
                tags[id] = record.recordChangeTag
            }
        case .recordZoneChanges(let page):
            let zone = page.modifications.keys.first?.zoneID ?? page.deletions.first?.recordID.zoneID
            if let zone { tokens[zone, default: []].append(page.changeToken) }
        case .databaseChanges(let page): databaseTokens.append(page.changeToken)
        case .records, .modifyRecordZones, .recordZones, .allZones, .modifySubscriptions, .allSubscriptions,
            .done,
            .failure:
            break
        }
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func anyZone() -> ZoneID {
        chance(2) ? LedgerFixture.zoneID : Self.zones[Int.random(in: 0..<4, using: &random)]
    }

    private mutating func anyName() -> String { Self.names[Int.random(in: 0..<6, using: &random)] }

    private mutating func operation() -> LedgerRequest.Operation {
        let zone = anyZone()
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return .modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        case 1: return .modifyRecordZones(saving: [], deleting: chance(3) ? [zone] : [])
        case 2: return .records([RecordID(recordName: anyName(), zoneID: zone)], desiredKeys: nil)
        case 3, 4, 5:
            let token = chance(3) ? nil : tokens[zone]?.randomElement(using: &random)
            let limit = Int.random(in: 1...5, using: &random)
            return .recordZoneChanges(zone, since: token, desiredKeys: nil, resultsLimit: limit)
        case 6:
            let token = chance(3) ? nil : databaseTokens.randomElement(using: &random)
            return .databaseChanges(since: token, resultsLimit: Int.random(in: 1...2, using: &random))
        case 7 where chance(3):
            return .removeZone(zone, reason: chance(2) ? .purged : .encryptedDataReset)
        case 8 where chance(3): return .expireTokens(chance(2) ? nil : zone)
        case 9: return .setQuota(bytes: chance(2) ? nil : 300)
        case 10:
            let kind = chance(2) ? CloudSubscription.Kind.database : .zone(zone)
            let subscription = CloudSubscription(subscriptionID: anyName(), kind: kind)
            return .modifySubscriptions(
                saving: [subscription],
                deleting: ["x", "b", "c"].filter { _ in chance(2) }
            )
        case 11: return chance(2) ? .allZones : .allSubscriptions
        case 12: return .recordZones([zone])
        default: return modification(of: zone)
        }
    }

    private mutating func modification(of zone: ZoneID) -> LedgerRequest.Operation {
        var ids: Set<RecordID> = []
        var (saving, deleting): ([Record], [RecordID]) = ([], [])
        for _ in 0...Int.random(in: 0..<5, using: &random) {
            let id = RecordID(recordName: anyName(), zoneID: chance(8) ? anyZone() : zone)
            guard ids.insert(id).inserted else { continue }
            if chance(4) { deleting.append(id) } else { saving.append(record(id)) }
        }
        return .modifyRecords(
            saving: saving,
            deleting: deleting,
            savePolicy: chance(3) ? .ifServerRecordUnchanged : .changedKeys,
            atomically: chance(3)
        )
    }

    private mutating func record(_ id: RecordID) -> Record {
        var record = Record(recordType: "Note", recordID: id)
        record.fields["n"] =
            chance(9) ? .string("another type") : .int64(Int64.random(in: 0...9, using: &random))
        if chance(3) {
            let owners = (0...Int.random(in: 0...1, using: &random)).map { _ in
                RecordValue.reference(RecordReference(recordName: anyName(), action: .deleteSelf))
            }
            record.fields["owners"] = .list(owners)
        }
        if chance(6) { record.fields["owners"] = .null }
        if chance(3) { record.parent = RecordReference(recordName: anyName()) }
        if let tag = tags[id], !chance(4) { record.systemFields = SystemFields(recordChangeTag: tag) }
        return record
    }
}
