import CodableSync
import XCTest

/// The contract for the fake.
final class FakeDatabaseContractTests: CloudDatabaseContract {
    private let cloud = FakeCloud()

    override func makeDatabase() async throws -> any CloudDatabase {
        cloud.database(user: "alice")
    }

    override func makeSecondConnection() async throws -> any CloudDatabase {
        cloud.database(user: "alice")
    }

    override func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        FakeCloud(options: options).database(user: "alice")
    }

    override func setAccount(_ status: AccountStatus, of database: any CloudDatabase) -> Bool {
        guard let device = database as? FakeDatabase else { return false }
        device.account = status
        return true
    }

    // A class that declares no test of its own is not found on Linux.
    func testAllDevicesOfACloudHaveTheSameIdentifier() async throws {
        let phone = try await makeDatabase()
        let laptop = try await makeSecondConnection()
        XCTAssertEqual(phone.identifier, laptop.identifier)
        XCTAssertNotEqual(phone.identifier, FakeCloud().identifier)
        XCTAssertTrue(phone.isInMemory)
    }
}
