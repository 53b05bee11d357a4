import XCTest

@testable import CodableSync

/// The contract of every database, on a directory; each connection has a memory of its own.
final class LocalDatabaseContractTests: CloudDatabaseContract {
    private var directory: TemporaryDirectory?

    override func makeDatabase() async throws -> any CloudDatabase {
        let directory = try TemporaryDirectory()
        self.directory = directory
        return LocalDatabase(directory: directory.url)
    }

    override func makeSecondConnection() async throws -> any CloudDatabase {
        LocalDatabase(directory: try XCTUnwrap(directory).url)
    }

    override func tearDownWithError() throws {
        try directory?.remove()
        directory = nil
    }

    /// The contract is worth little for a database in which everything shares one memory.
    func testConnectionsAreApart() async throws {
        let (first, second) = try await (makeDatabase(), makeSecondConnection())
        XCTAssertFalse(first as? LocalDatabase === second as? LocalDatabase)
        XCTAssertEqual(first.identifier, second.identifier)
    }
}
