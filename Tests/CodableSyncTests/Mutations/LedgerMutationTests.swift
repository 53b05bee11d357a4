import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// Ledger files changed behind valid checksums: no change crashes the process, and an opened ledger reads the
/// same after a compaction and a reopening.
final class LedgerMutationTests: XCTestCase {
    private static let zone = LedgerDirectoryFixture.zone

    /// A ledger with entries of every kind, both in the snapshot and in the journal after it.
    private func prepare() async throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem()
        let directory = LedgerDirectoryFixture.directory(files)
        for name in ["a", "b"] {
            try await LedgerDirectoryFixture.save(name, "\(name)2", in: directory)
            let other = ZoneID(zoneName: "Other \(name)")
            let subscription = CloudSubscription(subscriptionID: name, kind: .database)
            let operations: [LedgerRequest.Operation] = [
                .modifyRecordZones(saving: [RecordZone(zoneID: other)], deleting: []),
                .removeZone(other, reason: .purged),
                .modifySubscriptions(saving: [subscription], deleting: []),
                .setQuota(bytes: 1_000_000), .expireTokens(Self.zone), .expireTokens(nil),
                .modifyRecords(
                    saving: [],
                    deleting: [RecordID(recordName: "\(name)2", zoneID: Self.zone)],
                    savePolicy: .allKeys,
                    atomically: true
                ),
            ]
            for operation in operations { _ = try await perform(operation, in: directory) }
            if name == "a" { try await directory.compact() }
        }
        await directory.close()
        return files
    }

    private func perform(
        _ operation: LedgerRequest.Operation,
        in directory: LedgerDirectory
    ) async throws -> LedgerResponse {
        let request = LedgerRequest(user: "alice", operation: operation)
        return try await directory.perform(request, at: LedgerDirectoryFixture.date).response
    }

    func testMutatedLedgersCanBeReadExtendedAndReopened() async throws {
        let whole = try await prepare()
        let paths = whole.files.keys.filter { $0.hasSuffix(".jsonl") }.sorted()
        XCTAssertEqual(paths.count, 2)
        var openedCount = 0
        try await Mutations.forEach(else: Cases.sample(40, of: 100)) { seed in
            var mutator = FileMutator(seed: seed)
            let files = whole.crashed(keeping: .allWrites)
            let path = paths[mutator.below(paths.count)]
            files.place(mutator.mutate(try XCTUnwrap(files.bytes(at: path))), at: path)
            let directory = LedgerDirectoryFixture.directory(files)
            let before = files.withoutLocks
            do {
                _ = try await perform(.databaseChanges(since: nil, resultsLimit: nil), in: directory)
            } catch let error as CloudError {
                let expected: [CloudError.Code] = [.badDatabase, .incompatibleVersion]
                XCTAssertTrue(expected.contains(error.code), "seed \(seed): \(error)")
                await directory.close()
                XCTAssertEqual(files.withoutLocks, before, "seed \(seed): rejected, but its files changed")
                return
            }
            try await goOn(files, directory, seed)
            openedCount += 1
        }
        if Mutations.areCommitted { XCTAssertGreaterThan(openedCount, 0) }
    }

    /// Saves and deletes records, then reads the feed: now, after a compaction and after reopening.
    private func goOn(_ files: SimulatedFileSystem, _ directory: LedgerDirectory, _ seed: UInt64) async throws
    {
        let zones = LedgerRequest.Operation.modifyRecordZones(
            saving: [RecordZone(zoneID: Self.zone)],
            deleting: []
        )
        _ = try await perform(zones, in: directory)
        let response = try await perform(saving("new"), in: directory)
        _ = try await perform(
            .modifyRecords(
                saving: [],
                deleting: [RecordID(recordName: "a", zoneID: Self.zone)],
                savePolicy: .allKeys,
                atomically: false
            ),
            in: directory
        )
        let before = try await feed(directory)
        try await directory.compact()
        let after = try await feed(directory)
        await directory.close()
        let again = LedgerDirectoryFixture.directory(files)
        let read = try await feed(again)
        XCTAssertEqual(after, before, "seed \(seed)")
        XCTAssertEqual(read, before, "seed \(seed)")
        if case .modifyRecords(let result) = response, case .success? = result.saveResults.values.first {
            XCTAssertTrue(read.contains("new"), "seed \(seed)")
        }
        await again.close()
    }

    private func saving(_ name: String) -> LedgerRequest.Operation {
        let id = RecordID(recordName: name, zoneID: Self.zone)
        return .modifyRecords(
            saving: [Record(recordType: "Note", recordID: id, fields: ["text": "x"])],
            deleting: [],
            savePolicy: .allKeys,
            atomically: false
        )
    }

    /// The names in the zone's feed, read in small pages to its end.
    private func feed(_ directory: LedgerDirectory) async throws -> [String] {
        var names: Set<String> = []
        var token: ChangeToken?
        for _ in 0..<100 {
            let reading = LedgerRequest.Operation.recordZoneChanges(
                Self.zone,
                since: token,
                desiredKeys: nil,
                resultsLimit: 2
            )
            guard case .recordZoneChanges(let page) = try await perform(reading, in: directory) else { break }
            names.formUnion(page.modifications.keys.map(\.recordName))
            token = page.changeToken
            if !page.moreComing { return names.sorted() }
        }
        return names.sorted() + (token == nil ? [] : ["the feed does not end"])
    }
}
