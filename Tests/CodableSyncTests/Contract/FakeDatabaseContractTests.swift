import CodableSync
import XCTest

/// The contract, on the cloud in memory.
final class FakeDatabaseContractTests: CloudDatabaseContract {
    private let cloud = FakeCloud()

    override func makeDatabase() async throws -> any CloudDatabase {
        cloud.database(user: "alice")
    }

    override func makeSecondConnection() async throws -> any CloudDatabase {
        cloud.database(user: "alice")
    }
}
