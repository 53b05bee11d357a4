import XCTest

@_spi(Server) @testable import CodableSync

/// The contract of every database, run on a directory; each connection has its own memory.
final class LocalDatabaseContractTests: CloudDatabaseContract {
    private var directories: [TemporaryDirectory] = []
    private var databases: [LocalDatabase] = []

    private func connect(_ options: LedgerOptions = LedgerOptions()) throws -> LocalDatabase {
        let database = LocalDatabase(
            directory: try XCTUnwrap(directories.last).url,
            user: LocalDatabase.defaultUser,
            options: options,
            fileSystem: LocalFileSystem(),
            clock: SystemClock()
        )
        databases.append(database)
        return database
    }

    override func makeDatabase() async throws -> any CloudDatabase {
        directories.append(try TemporaryDirectory())
        return try connect()
    }

    override func makeSecondConnection() async throws -> any CloudDatabase {
        try connect()
    }

    override func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        directories.append(try TemporaryDirectory())
        return try connect(options)
    }

    override func restart(_ database: any CloudDatabase) async throws -> any CloudDatabase {
        for database in databases { await database.close() }
        return try connect()
    }

    override func tearDown() async throws {
        for database in databases { await database.close() }
        for directory in directories { try directory.remove() }
        databases = []
        directories = []
    }

    /// The contract proves little if all connections share one memory.
    func testConnectionsAreSeparateObjects() async throws {
        let (first, second) = try await (makeDatabase(), makeSecondConnection())
        XCTAssertFalse(first as? LocalDatabase === second as? LocalDatabase)
        XCTAssertEqual(try first.identifier, try second.identifier)
    }
}
