import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// What a storage loads and writes for a request, and what happens when two storages share one database.
final class RowStorageTests: XCTestCase {
    private static let zoneID = LedgerFixture.zoneID
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)

    private static var rules: CloudLedger {
        var options = LedgerOptions()
        options.enforcesSchema = true
        return CloudLedger(identifier: "rows", options: options)
    }

    @discardableResult
    private static func perform(
        _ operation: LedgerRequest.Operation,
        on storage: ByteStorage,
        user: String = "alice"
    ) async throws(CloudError) -> LedgerResponse {
        try await storage.perform(LedgerRequest(user: user, operation: operation), at: date).response
    }

    private static func saving(
        _ records: [Record],
        deleting names: [String] = [],
        policy: SavePolicy = .ifServerRecordUnchanged
    ) -> LedgerRequest.Operation {
        .modifyRecords(
            saving: records,
            deleting: names.map(LedgerFixture.id),
            savePolicy: policy,
            atomically: true
        )
    }

    private static func makeStorage(_ bytes: SharedBytes = SharedBytes()) async throws -> ByteStorage {
        let storage = ByteStorage(rules, bytes)
        let zone = RecordZone(zoneID: zoneID)
        try await perform(.modifyRecordZones(saving: [zone], deleting: []), on: storage)
        return storage
    }

    private static func results(_ response: LedgerResponse) throws -> ModifyRecordsResult {
        guard case .modifyRecords(let result) = response else { throw CloudError(.internalError) }
        return result
    }

    private static func page(
        of storage: ByteStorage,
        since token: ChangeToken? = nil,
        limit: Int? = nil
    ) async throws -> ZoneChanges {
        let operation = LedgerRequest.Operation.recordZoneChanges(
            zoneID,
            since: token,
            desiredKeys: nil,
            resultsLimit: limit
        )
        guard case .recordZoneChanges(let page) = try await perform(operation, on: storage) else {
            throw CloudError(.internalError)
        }
        return page
    }

    // MARK: What is loaded

    /// What a request loads, as (rows that the rules got, values that were read, steps).
    private func costs(ofRequestsTo storage: ByteStorage) async throws -> [String: [Int]] {
        var costs: [String: [Int]] = [:]
        func measure(_ name: String, _ operation: LedgerRequest.Operation) async throws -> LedgerResponse {
            let before = [storage.loaded, storage.reads, storage.steps]
            let response = try await Self.perform(operation, on: storage)
            costs[name] = zip([storage.loaded, storage.reads, storage.steps], before).map { $0 - $1 }
            return response
        }
        let family = [
            LedgerFixture.record("mother"), LedgerFixture.record("child", parent: "mother"),
            LedgerFixture.holder("holder", of: "child"),
        ]
        let saved = try Self.results(await measure("create", Self.saving(family)))
        let child = try XCTUnwrap(saved.saveResults[LedgerFixture.id("child")]?.get())
        var change = LedgerFixture.record("child", ["n": 1], parent: "mother")
        change.systemFields = child.systemFields
        _ = try await measure("update", Self.saving([change]))
        _ = try await measure("look up", .records([LedgerFixture.id("child")], desiredKeys: nil))
        guard
            case .recordZoneChanges(let page) = try await measure(
                "first page",
                .recordZoneChanges(Self.zoneID, since: nil, desiredKeys: nil, resultsLimit: 2)
            )
        else { return [:] }
        _ = try await measure(
            "next page",
            .recordZoneChanges(Self.zoneID, since: page.changeToken, desiredKeys: nil, resultsLimit: 2)
        )
        _ = try await measure("database", .databaseChanges(since: nil, resultsLimit: 1))
        _ = try await measure("zones", .recordZones([Self.zoneID]))
        _ = try await measure("delete", Self.saving([], deleting: ["child", "mother"]))
        return costs
    }

    func testARequestLoadsAsMuchFromManyRecordsAsFromFew() async throws {
        var costs: [[String: [Int]]] = []
        for batches in [1, 25] {
            let storage = try await Self.makeStorage()
            for batch in 0..<batches {
                let records = (0..<400).map { LedgerFixture.record("r\(batch).\($0)", ["n": 0]) }
                try await Self.perform(Self.saving(records), on: storage)
            }
            costs.append(try await self.costs(ofRequestsTo: storage))
        }
        XCTAssertEqual(costs[0], costs[1])
        XCTAssertEqual(costs[0].count, 8)
        for (name, cost) in costs[1] {
            XCTAssertLessThan(cost[0], 16, "\(name) loaded \(cost[0]) rows in \(cost[2]) steps")
        }
    }

    func testAFirstPageReadsNoRowOfADeletedRecord() async throws {
        let storage = try await Self.makeStorage()
        let names = (0..<300).map { "d\($0)" }
        try await Self.perform(Self.saving(names.map { LedgerFixture.record($0) }), on: storage)
        try await Self.perform(Self.saving([], deleting: names), on: storage)
        try await Self.perform(Self.saving([LedgerFixture.record("last")]), on: storage)
        let before = storage.loaded
        let page = try await Self.page(of: storage)
        XCTAssertEqual(page.modifications.keys.map(\.recordName), ["last"])
        XCTAssertFalse(page.moreComing)
        XCTAssertLessThan(storage.loaded - before, 6)
    }

    // MARK: What is expected at the commit

    func testARequestBeginsAgainIfAnotherStorageWasFirst() async throws {
        let bytes = SharedBytes()
        let (mine, other) = (try await Self.makeStorage(bytes), ByteStorage(Self.rules, bytes))
        mine.beforeCommit { () throws(CloudError) in
            try await Self.perform(Self.saving([LedgerFixture.record("a", ["n": 1])]), on: other)
        }
        let second = try Self.results(
            await Self.perform(Self.saving([LedgerFixture.record("a", ["n": 2])]), on: mine)
        )
        XCTAssertEqual(second.saveResults[LedgerFixture.id("a")]?.error?.code, .serverRecordChanged)
        XCTAssertEqual(mine.conflicts, 1)
        let records = try await Self.page(of: mine).modifications.values.map { try $0.get().fields["n"] }
        XCTAssertEqual(records, [.int64(1)])
    }

    func testTwoUsersCannotGiveAFieldTwoTypes() async throws {
        let bytes = SharedBytes()
        let (mine, other) = (try await Self.makeStorage(bytes), ByteStorage(Self.rules, bytes))
        let zone = RecordZone(zoneID: Self.zoneID)
        try await Self.perform(.modifyRecordZones(saving: [zone], deleting: []), on: other, user: "bob")
        mine.beforeCommit { () throws(CloudError) in
            let text = Self.saving([LedgerFixture.record("b", ["n": "text"])])
            try await Self.perform(text, on: other, user: "bob")
        }
        let mixed = try Self.results(
            await Self.perform(Self.saving([LedgerFixture.record("a", ["n": 2])]), on: mine)
        )
        XCTAssertEqual(mixed.saveResults[LedgerFixture.id("a")]?.error?.code, .invalidArguments)
        XCTAssertEqual(mine.conflicts, 1, "the databases differ, the types do not")
    }

    func testAReadBeginsAgainIfItsRowsAreFromTwoMoments() async throws {
        let bytes = SharedBytes()
        let (mine, other) = (try await Self.makeStorage(bytes), ByteStorage(Self.rules, bytes))
        mine.beforeCommit { () throws(CloudError) in
            try await Self.perform(Self.saving([LedgerFixture.record("a")]), on: other)
        }
        let page = try await Self.page(of: mine)
        XCTAssertEqual(page.modifications.keys.map(\.recordName), ["a"])
        XCTAssertEqual(mine.conflicts, 1)
    }

    func testRacingStoragesLoseNoChange() async throws {
        let bytes = SharedBytes()
        let storages = [try await Self.makeStorage(bytes), ByteStorage(Self.rules, bytes)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for index in 0..<20 {
                        let record = LedgerFixture.record("r\(task).\(index)", ["n": 1], parent: "mother")
                        let mother = LedgerFixture.record("mother", ["n\(task)": .int64(Int64(index))])
                        let request = Self.saving([mother, record], policy: .changedKeys)
                        let result = try Self.results(await Self.perform(request, on: storages[task % 2]))
                        XCTAssertEqual(result.saveResults.values.compactMap(\.error), [])
                    }
                }
            }
            try await group.waitForAll()
        }
        let pages = [try await Self.page(of: storages[0]), try await Self.page(of: storages[1])]
        XCTAssertEqual(pages[0], pages[1])
        XCTAssertEqual(pages[0].modifications.count, 161)
        let mother = try pages[0].modifications[LedgerFixture.id("mother")]?.get()
        XCTAssertEqual(mother?.fields.values.count { $0 == .int64(19) }, 8, "no save was overwritten")
        // Tags and sequences are given once.
        let tags = try pages[0].modifications.values.map { try $0.get().recordChangeTag }
        XCTAssertEqual(Set(tags).count, 161)
        let refused = try Self.results(
            await Self.perform(Self.saving([], deleting: ["mother"]), on: storages[0])
        )
        XCTAssertEqual(refused.deleteResults[LedgerFixture.id("mother")]??.code, .referenceViolation)
    }

    // MARK: A storage with a mistake

    func testAValueOfAnotherKindIsAnError() async throws {
        struct Broken: LedgerRowStorage {
            let rules = CloudLedger(identifier: "broken")
            let epoch: UInt64 = 1
            var changes: AsyncStream<LedgerChange> { AsyncStream { $0.finish() } }
            let value: LedgerValue?

            func close() async {}

            func load(
                _ keys: Set<LedgerKey>,
                for request: LedgerRequest
            ) async throws(CloudError) -> [LedgerKey: LedgerValue] {
                value.map { value in Dictionary(keys.map { ($0, value) }) { first, _ in first } } ?? [:]
            }

            func commit(_ commit: LedgerCommit, for request: LedgerRequest) async throws(CloudError) -> Bool {
                true
            }
        }
        for value in [nil, LedgerValue.count(1), .names([])] {
            let request = LedgerRequest(user: "alice", operation: .allZones)
            do throws(CloudError) {
                _ = try await Broken(value: value).perform(request, at: Self.date)
                XCTFail("it was answered")
            } catch {
                XCTAssertEqual(error.code, .internalError)
            }
        }
    }
}
