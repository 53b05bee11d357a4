import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// The contract of every database on a storage of bytes, whose requests load only what the rules ask for.
final class ByteStorageContractTests: CloudDatabaseContract {
    private struct Connection: LedgerBackedDatabase {
        let storage: ByteStorage

        var identifier: String { "bytes" }
        var scope: DatabaseScope { .private }
        var limits: DatabaseLimits { storage.rules.limits.database }
        var signals: AsyncStream<CloudSignal> { AsyncStream { $0.finish() } }

        func accountStatus() async throws -> AccountStatus { .available }

        func userRecordName() async throws -> String { "alice" }

        func response(to operation: LedgerRequest.Operation) async throws(CloudError) -> LedgerResponse {
            let request = LedgerRequest(user: "alice", operation: operation)
            return try await storage.perform(request, at: Date(timeIntervalSince1970: 1_700_000_000)).response
        }
    }

    private var bytes = SharedBytes()
    private var rules = CloudLedger(identifier: "bytes")

    override func makeDatabase() async throws -> any CloudDatabase { try await makeSecondConnection() }

    /// A second process over the same bytes.
    override func makeSecondConnection() async throws -> any CloudDatabase {
        Connection(storage: ByteStorage(rules, bytes))
    }

    override func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        bytes = SharedBytes()
        rules = CloudLedger(identifier: "bytes", options: options)
        return try await makeSecondConnection()
    }

    func testAClosedStorageRefusesRequestsAndEndsItsStreams() async throws {
        let storage = ByteStorage(rules, bytes)
        let changes = storage.changes
        let zone = LedgerRequest.Operation.modifyRecordZones(
            saving: [RecordZone(zoneID: zoneID)],
            deleting: []
        )
        _ = try await storage.perform(
            LedgerRequest(user: "alice", operation: zone),
            at: Date(timeIntervalSince1970: 1)
        )
        await storage.close()
        var heard: [LedgerChange] = []
        for await change in changes { heard.append(change) }
        XCTAssertEqual(heard, [LedgerChange(user: "alice", scope: .private, zoneID: zoneID)])
        let code = await code {
            _ = try await storage.perform(
                LedgerRequest(user: "alice", operation: .allZones),
                at: Date(timeIntervalSince1970: 1)
            )
        }
        XCTAssertEqual(code, .serviceUnavailable)
    }
}
