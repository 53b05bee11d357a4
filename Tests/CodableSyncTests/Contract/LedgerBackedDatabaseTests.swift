@_spi(Server) import CodableSync
import Foundation
import XCTest

/// The contract for a database that gives all its requests to a ledger: the smallest one possible.
final class LedgerBackedDatabaseTests: CloudDatabaseContract {
    /// A ledger that several connections share.
    private final class Cloud: @unchecked Sendable {
        private var ledger: CloudLedger
        private let lock = NSLock()

        init(_ options: LedgerOptions = LedgerOptions()) {
            ledger = CloudLedger(identifier: "cloud", options: options)
        }

        func perform(_ operation: LedgerRequest.Operation) -> LedgerResponse {
            lock.withLock {
                let request = LedgerRequest(user: "alice", operation: operation)
                let (response, entries) = ledger.handle(request, at: Date(), epoch: 1)
                for entry in entries { ledger.apply(entry) }
                return response
            }
        }
    }

    private struct Connection: LedgerBackedDatabase {
        let cloud: Cloud
        var fixed: LedgerResponse?

        var identifier: String { "cloud" }
        var scope: DatabaseScope { .private }
        var limits: DatabaseLimits { LedgerLimits.cloudKit.database }
        var signals: AsyncStream<CloudSignal> { AsyncStream { $0.finish() } }

        func accountStatus() async throws -> AccountStatus { .available }

        func userRecordName() async throws -> String { "alice" }

        func response(
            to operation: LedgerRequest.Operation
        ) async throws(CloudError) -> LedgerResponse {
            fixed ?? cloud.perform(operation)
        }
    }

    private var cloud = Cloud()

    override func makeDatabase() async throws -> any CloudDatabase { Connection(cloud: cloud) }

    override func makeSecondConnection() async throws -> any CloudDatabase { Connection(cloud: cloud) }

    override func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        cloud = Cloud(options)
        return Connection(cloud: cloud)
    }

    func testAResponseToAnotherRequestIsAnError() async throws {
        let database = Connection(cloud: cloud, fixed: .done)
        do {
            _ = try await database.recordZones(for: [zoneID])
            XCTFail("the response was taken")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .internalError)
        }
    }

    func testAFakeDatabasePerformsWhatNoClientCanRequest() async throws {
        let database = FakeCloud().database(user: "alice")
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])
        guard case .allZones(let zones) = try await database.response(to: .allZones) else {
            return XCTFail("another response")
        }
        XCTAssertTrue(zones.map(\.zoneID).contains(zoneID))
        XCTAssertEqual(database.requestCount(), 1, "the listing is no request of a client")
        let refused = RecordID(recordName: "A", zoneID: zoneID)
        let error = CloudError(.permissionFailure)
        let saving = LedgerRequest.Operation.modifyRecords(
            saving: [Record(recordType: "Note", recordID: refused)],
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false,
            refusing: [refused: error]
        )
        guard case .modifyRecords(let result) = try await database.response(to: saving) else {
            return XCTFail("another response")
        }
        XCTAssertEqual(result.saveResults[refused], .failure(error))
        database.signOut()
        do {
            _ = try await database.response(to: .allZones)
            XCTFail("there is no user")
        } catch {
            XCTAssertEqual(error.code, .notAuthenticated)
        }
    }
}
