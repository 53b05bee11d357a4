import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// BK-14 on the real disk with real processes.
final class LocalProcessTests: XCTestCase {
    private let zone = ZoneID(zoneName: "Note")
    private var temporary: TemporaryDirectory!

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
    }

    override func tearDownWithError() throws {
        try temporary.remove()
    }

    private func recordNames() async throws -> Set<String> {
        let database = LocalDatabase(directory: temporary.url)
        var names: Set<String> = []
        var token: ChangeToken?
        while true {
            let page = try await database.recordZoneChanges(
                inZoneWith: zone,
                since: token,
                desiredKeys: [],
                resultsLimit: nil
            )
            names.formUnion(page.modifications.keys.map(\.recordName))
            token = page.changeToken
            if !page.moreComing { break }
        }
        await database.close()
        return names
    }

    private func makeZone(in database: LocalDatabase) async throws {
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
    }

    private func save(_ names: String..., to database: LocalDatabase) async throws {
        try await Self.save(names, to: database, zone)
    }

    private static func save(_ names: [String], to database: LocalDatabase, _ zone: ZoneID) async throws {
        let records = names.map { name in
            Record(recordType: "Note", recordID: RecordID(recordName: name, zoneID: zone), fields: [:])
        }
        let result = try await database.modifyRecords(
            saving: records,
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )
        for outcome in result.saveResults.values { _ = try outcome.get() }
    }

    /// BK-14: five rounds, unless all cases are requested.
    func testASaveOfAKilledProcessIsCompleteOrAbsent() async throws {
        let records = 40
        for round in 0..<Cases.sample(5, of: 12) {
            let child = try ChildProcess("save", temporary.path, "r\(round)", "1000000", "\(records)")
            var answered = 0
            // The process is killed at an arbitrary moment during the next save.
            while answered <= round % 5, child.readLine() != nil { answered += 1 }
            child.kill()
            answered += child.readLines().count
            let names = try await recordNames().filter { $0.hasPrefix("r\(round)-") }
            let requests = Dictionary(grouping: names) { $0.split(separator: "-")[1] }
            XCTAssertGreaterThanOrEqual(
                requests.count,
                answered,
                "round \(round): every confirmed save is there"
            )
            XCTAssertLessThanOrEqual(requests.count, answered + 1, "round \(round)")
            XCTAssertTrue(
                requests.values.allSatisfy { $0.count == records },
                "round \(round): \(requests.mapValues(\.count))"
            )
        }
    }

    /// BK-14: the next process gets the lock at once, and nothing remains of the half-written save.
    func testAKilledProcessFreesItsLockAndItsHalfWrittenSaveIsDropped() async throws {
        let files = HeldFileSystem(LocalFileSystem())
        let database = LocalDatabase(
            directory: temporary.url,
            user: "local",
            fileSystem: files,
            clock: StoppedClock()
        )
        try await makeZone(in: database)
        try await save("before", to: database)
        let journal = temporary.path.appending(path: "journal-1.jsonl")
        let size = try LocalFileSystem().readFile(journal).count
        let child = try ChildProcess("half", temporary.path)
        XCTAssertEqual(child.readLine(), "half")
        XCTAssertGreaterThan(try LocalFileSystem().readFile(journal).count, size)
        let attempts = files.count(.lock)
        let zone = zone
        let saving = Task { try await LocalProcessTests.save(["after"], to: database, zone) }
        while files.count(.lock) == attempts { await Task.yield() }
        child.kill()
        try await saving.value
        let names = try await recordNames()
        XCTAssertEqual(names, ["before", "after"])
        let text = String(decoding: try LocalFileSystem().readFile(journal), as: UTF8.self)
        XCTAssertFalse(text.contains(#"{"user":"lo{"#), "the half line is cut off, not continued")
        await database.close()
    }

    /// BK-14: this process reads and compacts while the others write.
    func testSeveralProcessesLoseNothingAndCorruptNothing() async throws {
        for processes in [2, 4] {
            let children = try (0..<processes).map {
                try ChildProcess("save", temporary.path, "\(processes)p\($0)", "20", "3", "7")
            }
            let database = LocalDatabase(directory: temporary.url)
            try await makeZone(in: database)
            for index in 0..<20 {
                try await save("\(processes)here-\(index)", to: database)
                if index % 10 == 0 { try await database.ledger.compact() }
            }
            for child in children {
                XCTAssertEqual(child.readLines().count, 20)
                try child.finish()
                XCTAssertEqual(child.exitStatus, 0)
            }
            await database.close()
            let names = try await recordNames().filter { $0.hasPrefix("\(processes)") }
            XCTAssertEqual(names.count, 20 + processes * 20 * 3)
        }
    }

    /// BK-14: a compactor killed at any moment loses no records, and the next one cleans up; four rounds,
    /// unless all cases are requested.
    func testAProcessKilledDuringACompactionLosesNothing() async throws {
        let database = LocalDatabase(directory: temporary.url)
        try await makeZone(in: database)
        var expected: Set<String> = []
        for round in 0..<Cases.sample(4, of: 8) {
            let names = (0..<12).map { "r\(round)-\($0)" }
            for name in names { expected.insert(name) }
            let child = try ChildProcess("compact", temporary.path)
            XCTAssertEqual(child.readLine(), "compacted")
            for name in names.prefix(round) { try await save(name, to: database) }
            child.kill()
            for name in names.dropFirst(round) { try await save(name, to: database) }
            let found = try await recordNames()
            XCTAssertEqual(found, expected, "round \(round)")
        }
        try await database.ledger.compact()
        await database.close()
        let files = try LocalFileSystem().contents(ofDirectory: temporary.path)
        // `wanted.lock`, the lock of waiting connections, exists only if one has waited.
        XCTAssertEqual(files.filter { $0 != "wanted.lock" }.count, 4, "\(files)")
        XCTAssertEqual(files.filter { $0.hasSuffix(".tmp") }, [])
        let found = try await recordNames()
        XCTAssertEqual(found, expected)
    }

    /// A process receives what another one appends; the test waits for no fixed time.
    func testAProcessSeesWhatAnotherOneSaves() async throws {
        let database = LocalDatabase(directory: temporary.url)
        try await makeZone(in: database)
        try await save("old", to: database)
        let followers = try (0..<2).map { _ in try ChildProcess("follow", temporary.path) }
        for follower in followers {
            XCTAssertEqual(follower.readLine(), "old")
            XCTAssertEqual(follower.readLine(), "ready")
        }
        for round in 0..<3 {
            try await save("a\(round)", "b\(round)", to: database)
            for follower in followers {
                XCTAssertEqual(follower.readLine(), "a\(round)")
                XCTAssertEqual(follower.readLine(), "b\(round)")
            }
            try await database.ledger.compact()
        }
        for follower in followers { follower.kill() }
        await database.close()
    }
}
