import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

final class LocalDatabaseTests: XCTestCase {
    private let zone = ZoneID(zoneName: "Note")
    private var temporary: TemporaryDirectory!

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
    }

    override func tearDownWithError() throws {
        try temporary.remove()
    }

    private func database(
        user: String = "alice",
        clock: any SyncClock = StoppedClock()
    ) -> LocalDatabase {
        LocalDatabase(
            directory: temporary.url.appending(path: "cloud"),
            user: user,
            fileSystem: LocalFileSystem(),
            clock: clock
        )
    }

    private func save(_ name: String, to database: LocalDatabase) async throws {
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        let record = Record(
            recordType: "Note",
            recordID: RecordID(recordName: name, zoneID: zone),
            fields: ["n": .int64(1)]
        )
        let result = try await database.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        _ = try XCTUnwrap(result.saveResults[record.recordID]).get()
    }

    func testCreatingADatabaseDoesNotTouchTheDisk() throws {
        _ = database()
        XCTAssertEqual(try LocalFileSystem().contents(ofDirectory: temporary.path), [])
    }

    func testTheIdentifierIsThatOfTheFilesAndNotThePath() async throws {
        let database = database()
        let before = try database.identifier
        try await save("a", to: database)
        XCTAssertEqual(try database.identifier, before)
        let alias = temporary.url.appending(path: "alias")
        XCTAssertEqual(symlink(temporary.path.appending(path: "cloud"), alias.path(percentEncoded: false)), 0)
        XCTAssertEqual(try LocalDatabase(directory: alias).identifier, before)
        XCTAssertEqual(
            try LocalDatabase(directory: temporary.url.appending(path: "cloud/../cloud/")).identifier,
            before
        )
        let moved = temporary.url.appending(path: "moved")
        try FileManager.default.moveItem(at: temporary.url.appending(path: "cloud"), to: moved)
        XCTAssertEqual(try LocalDatabase(directory: moved).identifier, before)
        XCTAssertNotEqual(try self.database().identifier, before, "a new cloud at the former path")
    }

    func testStaticMembersMakeTheirDatabases() throws {
        let named: any CloudDatabase = .local(directory: temporary.url, user: "alice")
        let plain: any CloudDatabase = .local
        XCTAssertNotEqual((named as? LocalDatabase)?.directory, (plain as? LocalDatabase)?.directory)
        XCTAssertFalse(plain.isInMemory)
        #if !canImport(CloudKit)
            let standard: any CloudDatabase = .default
            XCTAssertEqual((standard as? LocalDatabase)?.directory, (plain as? LocalDatabase)?.directory)
        #endif
    }

    private struct Landmark: RecordCodable {
        var recordName = "pisa"
        static func resolveConflict(_ conflict: Conflict<Landmark>) throws -> Landmark? { nil }
    }

    func testAnEngineWithoutArgumentsUsesThePlatformsDatabase() async {
        let engine = SyncEngine<Landmark>()
        let database = await engine.core.database
        #if canImport(CloudKit)
            XCTAssertTrue(database is CloudKitDatabase)
        #else
            let local: LocalDatabase = .local
            XCTAssertEqual((database as? LocalDatabase)?.directory, local.directory)
        #endif
    }

    func testThereIsAlwaysAnAccount() async throws {
        let (alice, local) = (database(), LocalDatabase(directory: temporary.url))
        let status = try await alice.accountStatus()
        XCTAssertEqual(status, .available)
        let names = try await [alice.userRecordName(), local.userRecordName()]
        XCTAssertEqual(names, ["alice", "local"])
    }

    func testUsersDoNotSeeEachOther() async throws {
        let (alice, bob) = (database(), database(user: "bob"))
        try await save("a", to: alice)
        let found = try await bob.recordZones(for: [zone])
        XCTAssertThrowsError(try XCTUnwrap(found[zone]).get()) {
            XCTAssertEqual(($0 as? CloudError)?.code, .zoneNotFound)
        }
    }

    func testTokensSurviveReopening() async throws {
        let first = database()
        try await save("a", to: first)
        let page = try await first.recordZoneChanges(
            inZoneWith: zone,
            since: nil,
            desiredKeys: nil,
            resultsLimit: nil
        )
        try await save("b", to: first)
        await first.close()
        let next = try await database().recordZoneChanges(
            inZoneWith: zone,
            since: page.changeToken,
            desiredKeys: nil,
            resultsLimit: nil
        )
        XCTAssertEqual(next.modifications.keys.map(\.recordName), ["b"])
    }

    func testOnlyChangesByOthersAreSignaled() async throws {
        let (watched, other) = (database(), database())
        try await save("before", to: watched)
        var signals = watched.signals.makeAsyncIterator()
        try await save("own", to: watched)
        await watched.look()
        try await save("foreign", to: other)
        await watched.look()
        await watched.look()
        let first = await signals.next()
        XCTAssertEqual(first, .changes(in: nil))
        await watched.close()
        let second = await signals.next()
        XCTAssertNil(second, "there was one change, and one signal")
    }

    func testEveryListenerGetsTheSignal() async throws {
        let (watched, other) = (database(), database())
        try await save("before", to: watched)
        var listeners = [watched.signals.makeAsyncIterator(), watched.signals.makeAsyncIterator()]
        try await save("foreign", to: other)
        await watched.look()
        for index in listeners.indices {
            let signal = await listeners[index].next()
            XCTAssertEqual(signal, .changes(in: nil))
        }
    }

    /// The database looks for changes four times a second, by its clock.
    func testAListenerGetsASignalWithinAQuarterOfASecond() async throws {
        let clock = ManualClock()
        let followed = self.database(clock: clock)
        let other = database()
        try await save("before", to: followed)
        var signals = followed.signals.makeAsyncIterator()
        for round in 1...3 {
            await clock.reach("it waits for its next look") { $0 == [.milliseconds(250 * round)] }
            try await save("foreign \(round)", to: other)
            clock.advance(by: .milliseconds(250))
            let signal = await signals.next()
            XCTAssertEqual(signal, .changes(in: nil))
        }
        await followed.close()
        let end = await signals.next()
        XCTAssertNil(end)
    }

    /// An app has one engine per model.
    func testAllListenersShareOneLookAtTheDirectory() async throws {
        let clock = ManualClock()
        let database = self.database(clock: clock)
        var listeners = (0..<20).map { _ in database.signals }
        for _ in 0..<3 {
            await clock.reach("it waits") { !$0.isEmpty }
            XCTAssertEqual(clock.sleeperCount, 1)
            clock.advance(by: .milliseconds(250))
        }
        listeners.removeLast(19)
        await clock.reach("it waits") { !$0.isEmpty }
        listeners = []
        await clock.reach("nobody waits") { $0.isEmpty }
        XCTAssertEqual(database.listeners.count, 0)
    }

    /// The last listener leaves as another one arrives.
    func testListeningWorksAgainAfterTheLastListenerHasLeft() async throws {
        let clock = ManualClock()
        let database = self.database(clock: clock)
        for _ in 0..<3 {
            var signals = [database.signals]
            signals.removeLast()
            signals.append(database.signals)
            await clock.reach("it waits") { !$0.isEmpty }
            XCTAssertEqual(clock.sleeperCount, 1)
            signals = []
            await clock.reach("nobody waits") { $0.isEmpty }
        }
    }

    /// The database closes after a listener has been added and before its end is observed.
    func testAClosedDatabaseStopsLooking() async throws {
        let clock = ManualClock()
        let listeners = LocalListeners()
        let stream = listeners.stream(watching: database().ledger, by: clock)
        await clock.reach("it waits") { !$0.isEmpty }
        listeners.finish()
        await clock.reach("nobody waits") { $0.isEmpty }
        withExtendedLifetime(stream) {}
    }

    func testAReleasedDatabaseReleasesItsLedgerAndListeners() async throws {
        weak var ledger: LedgerDirectory?
        weak var listeners: LocalListeners?
        do {
            let database = database()
            ledger = database.ledger
            listeners = database.listeners
            var signals: [AsyncStream<CloudSignal>] = [database.signals, database.signals]
            signals.removeLast()
            XCTAssertEqual(database.listeners.count, 1)
        }
        // The task that looks for changes holds both until it ends, and its end can't be awaited.
        while ledger != nil || listeners != nil { await Task.yield() }
    }

    func testAClosedDatabaseHasNoMoreSignals() async throws {
        let database = database()
        await database.close()
        var signals = database.signals.makeAsyncIterator()
        let signal = await signals.next()
        XCTAssertNil(signal)
    }

    /// D9.
    func testListeningCreatesNoDirectory() async throws {
        let database = database()
        var signals = database.signals.makeAsyncIterator()
        await database.look()
        XCTAssertEqual(try LocalFileSystem().contents(ofDirectory: temporary.path), [])
        try await save("a", to: self.database())
        await database.look()
        let signal = await signals.next()
        XCTAssertEqual(signal, .changes(in: nil))
    }

    #if os(Linux)
        func testTheNumberOfOpenFilesStaysConstant() async throws {
            let writer = database()
            try await save("a", to: writer)
            let followers = (0..<20).map { _ in database() }
            var counts: [Int] = []
            for round in 0..<12 {
                try await save("r\(round)", to: writer)
                if round % 3 == 2 { try await writer.ledger.compact() }
                for follower in followers {
                    await follower.look()
                    _ = try await follower.recordZones(for: [zone])
                }
                if round % 3 == 2 { counts.append(try openFiles()) }
            }
            XCTAssertEqual(counts, Array(repeating: counts[0], count: 4))
            XCTAssertLessThanOrEqual(counts[0], 3 * 21)
            for database in followers + [writer] { await database.close() }
            XCTAssertEqual(try openFiles(), 0)
        }

        /// The number of files below the test's directory that this process has open.
        private func openFiles() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
                // The descriptor of the listing itself is closed by now and has no path.
                guard let path = realpath("/proc/self/fd/\(number)", nil) else { return false }
                defer { free(path) }
                return String(cString: path).hasPrefix(temporary.path)
            }
        }
    #endif

    /// BK-14.
    func testDamagedFileStopsAnEngineWithAnErrorThatNamesIt() async throws {
        try await save("a", to: database())
        let path = temporary.path.appending(path: "cloud/journal-1.jsonl")
        var bytes = try LocalFileSystem().readFile(path)
        bytes[bytes.endsOfCommits[0] + 10] ^= 1
        try LocalFileSystem().writeAtomically(bytes, to: path)
        do {
            try await save("b", to: database())
            XCTFail("the file is damaged")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .badDatabase)
            XCTAssertEqual(error.recovery, .stop)
            XCTAssertTrue(error.message.contains("journal-1.jsonl"), error.message)
        }
        XCTAssertEqual(try LocalFileSystem().readFile(path), bytes)
    }

    func testFileInPlaceOfTheDirectoryIsAClearError() async throws {
        try LocalFileSystem().writeAtomically([1], to: temporary.path.appending(path: "cloud"))
        do {
            try await save("a", to: database())
            XCTFail("it is a file")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .badDatabase)
        }
    }

    #if !canImport(Darwin)
        func testDefaultDirectoryFollowsTheEnvironmentVariables() {
            let rows: [(variables: [String: String], path: String)] = [
                ([:], "/home/a/.local/share"), (["XDG_DATA_HOME": "/data"], "/data"),
                (["XDG_DATA_HOME": ""], "/home/a/.local/share"),
                (["XDG_DATA_HOME": "relative"], "/home/a/.local/share"),
                (["HOME": "/root/"], "/root/.local/share"), (["HOME": "relative"], "/home/a/.local/share"),
                (["XDG_DATA_HOME": "/data/", "HOME": "/root"], "/data"),
            ]
            for (variables, path) in rows {
                XCTAssertEqual(DataDirectory.path(environment: variables, userHome: "/home/a/"), path)
            }
            XCTAssertTrue(
                LocalDatabase.defaultDirectory.path(percentEncoded: false).withoutTrailingSlash
                    .hasSuffix("/CodableSync/LocalDatabase")
            )
        }
    #endif
}
