import Foundation
import XCTest

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// One random script, which must have the same results on every database.
final class DatabaseScriptTests: XCTestCase {
    func testOneScriptHasTheSameResultsOnEveryDatabase() async throws {
        var options = LedgerOptions()
        options.enforcesSchema = true
        for seed: UInt64 in 1...Cases.sample(12, of: 500) {
            let clock = ManualClock()
            let directory = try TemporaryDirectory()
            let local = LocalDatabase(
                directory: directory.url,
                user: LocalDatabase.defaultUser,
                options: options,
                fileSystem: MemoryFileSystem(),
                clock: clock
            )
            let fake = FakeCloud(options: options, date: { clock.now.wall }).database()
            let web = CloudKitWebDatabase(EmulatedWebServices(options))
            // The same services over bytes, of which each request loads a few.
            let rows = CloudKitWebDatabase(EmulatedWebServices(options) { ByteStorage($0) })
            let databases: [any CloudDatabase] = [fake, local, web, rows]
            var scripts = databases.map { DatabaseScript($0, seed) }
            for _ in 1...80 {
                clock.advance(by: .seconds(1))
                var results: [String] = []
                for index in scripts.indices { results.append(await scripts[index].step()) }
                guard Set(results).count == 1 else {
                    let names = ["fake", "local", "web", "rows"]
                    let lines = zip(names, results).map { "\($0): \($1)" }
                    XCTFail("seed \(seed):\n" + lines.joined(separator: "\n"))
                    break
                }
            }
            await local.close()
            try directory.remove()
        }
    }
}

/// Random requests to a database, with results that can be compared with those of another one.
private struct DatabaseScript {
    private let database: any CloudDatabase
    private var random: SplitMix64
    /// The versions that were saved, the newest last.
    private var known: [RecordID: [Record]] = [:]
    private var tokens: [ZoneID: ChangeToken] = [:]
    private var databaseToken: ChangeToken?

    private static let zones = ["A", "B", "missing"].map { ZoneID(zoneName: $0) }
    private static let names = ["a", "b", "c", "A", "d.e-F_1"]

    init(_ database: any CloudDatabase, _ seed: UInt64) {
        self.database = database
        random = SplitMix64(seed: seed)
    }

    mutating func step() async -> String {
        do {
            return switch Int.random(in: 0..<12, using: &random) {
            case 0: try await saveZone()
            case 1 where Int.random(in: 0..<4, using: &random) == 0: try await deleteZone()
            case 1, 2: try await lookUp()
            case 3, 4: try await fetchZone()
            case 5: try await fetchDatabase()
            case 6: try await zones()
            default: try await modify()
            }
        } catch {
            return "failed: \((error as? CloudError)?.code.name ?? "\(error)")"
        }
    }

    private mutating func anyZone() -> ZoneID {
        // The missing one now and then.
        Self.zones[Int.random(in: 0..<20, using: &random) == 0 ? 2 : Int.random(in: 0..<2, using: &random)]
    }

    private mutating func anyID(in zone: ZoneID) -> RecordID {
        RecordID(recordName: Self.names[Int.random(in: 0..<5, using: &random)], zoneID: zone)
    }

    // MARK: Records

    private mutating func modify() async throws -> String {
        let zone = anyZone()
        var ids: Set<RecordID> = []
        var (saving, deleting): ([Record], [RecordID]) = ([], [])
        for _ in 0...Int.random(in: 0..<4, using: &random) {
            let id = anyID(in: zone)
            guard ids.insert(id).inserted else { continue }
            if Int.random(in: 0..<5, using: &random) == 0 {
                deleting.append(id)
            } else {
                saving.append(record(id))
            }
        }
        let policy: SavePolicy =
            Int.random(in: 0..<5, using: &random) == 0 ? .changedKeys : .ifServerRecordUnchanged
        let isAtomic = Bool.random(using: &random)
        let result = try await database.modifyRecords(
            saving: saving,
            deleting: deleting,
            savePolicy: policy,
            atomically: isAtomic
        )
        var lines: [String] = []
        for (id, outcome) in result.saveResults.sorted(by: { $0.key < $1.key }) {
            switch outcome {
            case .success(let record):
                known[id, default: []].append(record)
                lines.append("\(id.recordName): \(Self.text(of: record))")
            case .failure(let error):
                lines.append(
                    "\(id.recordName): \(error.code.name), \(error.serverRecord.map(Self.text) ?? "no record")"
                )
            }
        }
        for (id, error) in result.deleteResults.sorted(by: { $0.key < $1.key }) {
            lines.append("\(id.recordName) deleted: \(error?.code.name ?? "yes")")
        }
        return "modify \(zone.zoneName), atomic: \(isAtomic): " + lines.joined(separator: "; ")
    }

    private mutating func record(_ id: RecordID) -> Record {
        var record = Record(recordType: "Note", recordID: id)
        record.fields["count"] = .int64(Int64.random(in: -3...3, using: &random))
        record.fields["text"] = .string(["", "x", "ü\n\"", "💡"][Int.random(in: 0..<4, using: &random)])
        if Bool.random(using: &random) { record.fields["part"] = .double(0.1) }
        if Bool.random(using: &random) { record.fields["list"] = .list([.string("1"), .string("2")]) }
        if Int.random(in: 0..<4, using: &random) == 0 { record.fields["part"] = .null }
        let versions = known[id] ?? []
        switch Int.random(in: 0..<6, using: &random) {
        case 0: break
        case 1: record.systemFields = versions.first?.systemFields
        default: record.systemFields = versions.last?.systemFields
        }
        return record
    }

    private mutating func lookUp() async throws -> String {
        let zone = anyZone()
        let ids = Array(Set((0..<3).map { _ in anyID(in: zone) })).sorted()
        let keys = Bool.random(using: &random) ? ["count"] : nil
        let results = try await database.records(for: ids, desiredKeys: keys)
        let lines = ids.map { id in "\(id.recordName): \(results[id].map(Self.text) ?? "not mentioned")" }
        return "look-up in \(zone.zoneName): " + lines.joined(separator: "; ")
    }

    // MARK: Zones and feeds

    private mutating func saveZone() async throws -> String {
        let zone = Self.zones[Int.random(in: 0..<2, using: &random)]
        let result = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        return "save \(zone.zoneName): \(result.saveResults[zone]?.error?.code.name ?? "yes")"
    }

    private mutating func deleteZone() async throws -> String {
        let zone = anyZone()
        let result = try await database.modifyRecordZones(saving: [], deleting: [zone])
        tokens[zone] = nil
        for id in known.keys where id.zoneID == zone { known[id] = nil }
        return "delete \(zone.zoneName): \(result.deleteResults[zone]?.map(\.code.name) ?? "yes")"
    }

    private func zones() async throws -> String {
        let results = try await database.recordZones(for: Self.zones)
        return "zones: "
            + Self.zones.map { "\(results[$0]?.error?.code.name ?? "there")" }.joined(separator: ", ")
    }

    private mutating func fetchZone() async throws -> String {
        let zone = anyZone()
        let limit = Bool.random(using: &random) ? Int.random(in: 1...4, using: &random) : nil
        let token = Int.random(in: 0..<5, using: &random) == 0 ? nil : tokens[zone]
        let page = try await database.recordZoneChanges(
            inZoneWith: zone,
            since: token,
            desiredKeys: nil,
            resultsLimit: limit
        )
        tokens[zone] = page.changeToken
        let changed = page.modifications.sorted { $0.key < $1.key }
        let lines = changed.map { "\($0.key.recordName): \(Self.text(of: $0.value))" }
        let deleted = page.deletions.map { "\($0.recordID.recordName) \($0.recordType)" }.sorted()
        return
            "fetch \(zone.zoneName) by \(limit ?? 0): \(lines), deleted \(deleted), more: \(page.moreComing)"
    }

    private mutating func fetchDatabase() async throws -> String {
        let page = try await database.databaseChanges(since: databaseToken, resultsLimit: nil)
        databaseToken = page.changeToken
        let deleted = page.deletions.map(\.zoneID.zoneName).sorted()
        return "database: \(page.modifications.map(\.zoneName).sorted()), deleted \(deleted)"
    }

    private static func text(of result: Result<Record, CloudError>) -> String {
        switch result {
        case .success(let record): text(of: record)
        case .failure(let error): error.code.name
        }
    }

    private static func text(of record: Record) -> String {
        record.recordType + " "
            + record.fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}
