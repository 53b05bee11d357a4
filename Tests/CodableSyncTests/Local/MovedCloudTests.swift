import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// A local cloud is known by the identity in its files, wherever its directory is.
final class MovedCloudTests: XCTestCase {
    private var temporary: TemporaryDirectory!

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
    }

    override func tearDownWithError() throws {
        try temporary.remove()
    }

    private func url(_ name: String) -> URL {
        temporary.url.appending(path: name, directoryHint: .isDirectory)
    }

    /// Runs an engine on a cloud's directory, always with the same state.
    private func withEngine<Result>(
        on cloud: String,
        _ body: (SyncEngine<Note>) async throws -> Result
    ) async throws -> Result {
        let database = LocalDatabase(directory: url(cloud), user: "alice")
        var configuration = SyncConfiguration()
        configuration.storage = .directory(url("state"))
        configuration.automaticallySyncs = false
        let engine = SyncEngine<Note>(database: database, configuration: configuration)
        do {
            let result = try await body(engine)
            try await engine.close()
            await database.close()
            return result
        } catch {
            try await engine.close()
            await database.close()
            throw error
        }
    }

    /// Uploads one note, and leaves another one unsent.
    private func prepare() async throws {
        try await withEngine(on: "cloud") { engine in
            try await engine.upload(Note("a", "sent"))
            try await engine.sync()
            try await engine.upload(Note("b", "not sent"))
        }
    }

    func testAMovedCloudOpensTheStateWithItsUnsentEdits() async throws {
        try await prepare()
        try FileManager.default.moveItem(at: url("cloud"), to: url("moved"))
        try await withEngine(on: "moved") { engine in
            let pending = try await engine.pendingChanges().map(\.recordName)
            XCTAssertEqual(pending, ["b"])
            let summary = try await engine.sync()
            XCTAssertEqual([summary.sent, summary.fetched], [1, 0], "nothing is sent or fetched again")
        }
    }

    func testTheStateOfARemovedCloudIsNotOpenedForTheNextOneThere() async throws {
        try await prepare()
        try FileManager.default.moveItem(at: url("cloud"), to: url("former"))
        do {
            try await withEngine(on: "cloud") { _ = try await $0.allModels() }
            XCTFail("it is another cloud")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .configuration)
            XCTAssertTrue(error.message.contains("belongs to the cloud"), error.message)
        }
        try await withEngine(on: "former") { engine in
            let pending = try await engine.pendingChanges().map(\.recordName)
            XCTAssertEqual(pending, ["b"])
        }
    }

    func testACloudWhoseLogWasRemovedIsTheSameAndGetsEverythingAgain() async throws {
        try await prepare()
        try FileManager.default.removeItem(at: url("cloud").appending(path: "journal-1.jsonl"))
        try await withEngine(on: "cloud") { engine in
            let summary = try await engine.sync()
            XCTAssertEqual(summary.sent, 2)
        }
    }

    func testACloudThatIsRemovedUnderAnEngineStaysTheSame() async throws {
        try await withEngine(on: "cloud") { engine in
            try await engine.upload(Note("a", "sent"))
            try await engine.sync()
            try FileManager.default.removeItem(at: url("cloud"))
            let summary = try await engine.sync()
            XCTAssertEqual(summary.sent, 1, "uploaded again")
        }
        let models = try await withEngine(on: "cloud") { try await $0.allModels() }
        XCTAssertEqual(models, [Note("a", "sent")])
    }

    func testConnectionsThatMakeACloudAtOnceAgree() async throws {
        let directory = url("cloud")
        let identifiers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask { try LocalDatabase(directory: directory).identifier }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        XCTAssertEqual(identifiers.count, 1)
    }

    func testAnIdentityThatWasReturnedIsDurable() throws {
        let files = SimulatedFileSystem()
        let identity = try LedgerDirectoryFixture.directory(files).identity()
        let left = files.crashed(keeping: .onlySynced)
        let next = LedgerDirectory(path: "/ledger", fileSystem: left, newIdentifier: { "other" })
        XCTAssertEqual(try next.identity(), identity)
    }

    func testADirectoryOfSomethingElseIsNoCloudAndLeftAlone() async throws {
        try await prepare()
        try FileManager.default.createDirectory(at: url("documents"), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: url("documents").appending(path: ".letter"))
        try FileManager.default.createSymbolicLink(at: url("link"), withDestinationURL: url("documents"))
        for name in ["documents", "state", "link"] {
            let before = try FileManager.default.subpathsOfDirectory(atPath: url(name).path).sorted()
            let database = LocalDatabase(directory: url(name))
            XCTAssertThrowsError(try database.identifier, name) { error in
                XCTAssertEqual((error as? CloudError)?.code, .badDatabase, name)
                XCTAssertTrue("\(error)".contains("is not a cloud: it contains"), "\(error)")
            }
            do {
                _ = try await database.allSubscriptions()
                XCTFail(name)
            } catch let error as CloudError {
                XCTAssertEqual(error.code, .badDatabase, name)
            }
            XCTAssertEqual(
                try FileManager.default.subpathsOfDirectory(atPath: url(name).path).sorted(),
                before,
                name
            )
        }
        let documents = try FileManager.default.contentsOfDirectory(atPath: url("documents").path)
        XCTAssertEqual(documents, [".letter"], "also through a link")
    }
}
