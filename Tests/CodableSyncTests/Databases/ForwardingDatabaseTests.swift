@_spi(Server) import CodableSync
import Foundation
import XCTest

/// A database that counts its requests, and loses the answers that a test chooses.
private final class CountingDatabase: ForwardingDatabase, @unchecked Sendable {
    private let state = Locked((counts: [FakeOperation: Int](), lost: FakeOperation?.none))

    var counts: [FakeOperation: Int] { state.withLock { $0.counts } }

    func lose(_ operation: FakeOperation?) {
        state.withLock { $0.lost = operation }
    }

    override func perform<Answer: Sendable>(
        _ operation: FakeOperation,
        _ request: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let answer = try await request()
        let isLost = state.withLock { state in
            state.counts[operation, default: 0] += 1
            return state.lost == operation
        }
        if isLost { throw CloudError(.serverResponseLost) }
        return answer
    }
}

/// A database that finds no records.
private final class HastyDatabase: ForwardingDatabase, @unchecked Sendable {
    override func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        [:]
    }
}

final class ForwardingDatabaseTests: XCTestCase {
    private let cloud = FakeCloud()

    private func engine(on database: any CloudDatabase) -> SyncEngine<Note> {
        var configuration = SyncConfiguration()
        configuration.clock = ManualClock()
        configuration.automaticallySyncs = false
        return SyncEngine(database: database, configuration: configuration)
    }

    func testAnEngineWorksThroughAForwardingDatabase() async throws {
        let database = CountingDatabase(cloud.database())
        try await engine(on: database).upload(Note("a", "x"))
        let phone = engine(on: database)
        try await phone.upload(Note("b", "x"))
        try await phone.sync()
        XCTAssertEqual(try cloud.models(Note.self), [Note("b", "x")])
        XCTAssertEqual(database.counts[.modifyRecords], 1)
        XCTAssertEqual(database.counts[.accountStatus], 1)
        XCTAssertNil(database.counts[.any])
    }

    func testOverridingPerformCanLoseAnswersOfOneKind() async throws {
        let database = CountingDatabase(cloud.database())
        let phone = engine(on: database)
        try await phone.upload(Note("a", "x"))
        database.lose(.modifyRecords)
        do {
            try await phone.sync()
            XCTFail("The answer should be lost.")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertEqual(error.code, .serverResponseLost)
        }
        XCTAssertEqual(try cloud.models(Note.self), [Note("a", "x")])
        database.lose(nil)
        let summary = try await phone.sync()
        XCTAssertEqual(summary.conflictsResolved, 0)
    }

    func testOverridingOneRequestChangesOnlyItsAnswer() async throws {
        let database = HastyDatabase(cloud.database())
        let id = RecordID(recordName: "a")
        let found = try await database.records(for: [id], desiredKeys: nil)
        XCTAssertEqual(found.count, 0)
        let status = try await database.accountStatus()
        XCTAssertEqual(status, .available)
    }
}

/// The contract for a forwarding database that changes nothing.
final class ForwardingDatabaseContractTests: CloudDatabaseContract {
    private let cloud = FakeCloud()

    override func makeDatabase() async throws -> any CloudDatabase {
        ForwardingDatabase(cloud.database(user: "alice"))
    }

    override func makeSecondConnection() async throws -> any CloudDatabase {
        ForwardingDatabase(cloud.database(user: "alice"))
    }

    override func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        ForwardingDatabase(FakeCloud(options: options).database(user: "alice"))
    }

    override func setAccount(_ status: AccountStatus, of database: any CloudDatabase) -> Bool {
        guard let device = (database as? ForwardingDatabase)?.base as? FakeDatabase else { return false }
        device.account = status
        return true
    }

    // A class that declares no test of its own is not found on Linux.
    func testAForwardingDatabaseHasThePropertiesOfItsBase() async throws {
        let database = try await makeDatabase()
        XCTAssertEqual(try database.identifier, cloud.identifier)
        XCTAssertEqual(database.scope, .private)
        XCTAssertEqual(database.limits, cloud.limits)
        XCTAssertTrue(database.isInMemory)
        XCTAssertEqual(database.accountGeneration, 0)
    }
}
