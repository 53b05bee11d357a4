import XCTest

@testable import CodableSync

/// Scenarios, group A: the local queue and acknowledgement.
class LocalQueueScenarios: EngineScenario {
    /// LQ-02
    func testOfTwoUploadsOfOneRecordOnlyTheLastIsSent() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "first"))
        try await phone.engine.upload(Note("a", "second"))
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.map(\.names), [["a"]])
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "second")
    }
}

final class LocalQueueScenariosOnLocalDatabase: LocalQueueScenarios {
    private var directory: TemporaryDirectory?

    override func makeCloud() throws -> any TestCloud {
        let directory = try TemporaryDirectory()
        self.directory = directory
        return LocalTestCloud(directory: directory.url, clock: clock)
    }

    override func tearDownWithError() throws { try directory?.remove() }

    func testTheDatabaseIsADirectory() throws {
        XCTAssertTrue(try makeDevice(Note.self).database.base is LocalDatabase)
    }
}
