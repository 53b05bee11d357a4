@_spi(Server) import CodableSync
import Foundation
import RecordCoding
import XCTest

/// The contract for the adapter, on the stand-in.
final class CloudKitContractTests: AdapterContract {
    // A class that declares no test of its own is not found on Linux.
    func testConnectionsToOneContainerAreTheSameCloud() async throws {
        let (first, second) = try await (makeDatabase(), makeSecondConnection())
        XCTAssertFalse(first as? CloudKitDatabase === second as? CloudKitDatabase)
        XCTAssertEqual(try first.identifier, try second.identifier)
        XCTAssertFalse(first.isInMemory)
    }
}

/// The contract where responses name the user instead of placeholders.
final class CloudKitNamesContractTests: AdapterContract {
    override var differences: FakeCloudKit.Differences {
        FakeCloudKit.Differences(hasPlaceholderForUser: false, wrapsZoneErrors: true)
    }

    func testTheUserIsNamedInResponses() async throws {
        let database = try await makeDatabaseWithZones()
        let saved = try await save(record("a"), to: database)
        XCTAssertEqual(saved.systemFields?.creatorUserRecordName, "alice", "without a look-up of the user")
    }
}

class AdapterContract: CloudDatabaseContract {
    private var service: FakeCloudKit?

    var differences: FakeCloudKit.Differences { FakeCloudKit.Differences() }

    override func makeDatabase() async throws -> any CloudDatabase {
        guard type(of: self) != AdapterContract.self else { return try await super.makeDatabase() }
        return connect(FakeCloudKit(FakeCloud().database(user: "alice"), differences))
    }

    override func makeSecondConnection() async throws -> any CloudDatabase {
        connect(try XCTUnwrap(service).secondDevice())
    }

    override func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        connect(FakeCloudKit(FakeCloud(options: options).database(user: "alice"), differences))
    }

    private func connect(_ service: FakeCloudKit) -> any CloudDatabase {
        self.service = service
        return service.database()
    }

    override func setAccount(_ status: AccountStatus, of database: any CloudDatabase) -> Bool {
        service?.changeAccount { $0.account = status }
        return true
    }
}
