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

    // A class without a test of its own is not found on Linux.
    func testTheCloudIsTheSameOnAllItsDevices() async throws {
        let phone = try await makeDatabase()
        let laptop = try await makeSecondConnection()
        XCTAssertEqual(phone.identifier, laptop.identifier)
        XCTAssertNotEqual(phone.identifier, FakeCloud().identifier)
        XCTAssertTrue(phone.isInMemory)
    }
}
