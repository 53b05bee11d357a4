@_spi(Server) import CodableSync
import Foundation

/// A second process for the tests that need one; it prints a line for each thing it has done.
@main
enum SecondProcess {
    static let usage = """
        usage: SecondProcess lock PATH | save DIRECTORY PREFIX REQUESTS RECORDS [COMPACT-EVERY] | half DIRECTORY
               | compact DIRECTORY | follow DIRECTORY | write DIRECTORY SEED
               | kills DIRECTORY ROUNDS SEED | closes DIRECTORY ROUNDS SEED | web SERVER FILE SECONDS
        """
    static let zone = ZoneID(zoneName: "Note")

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("lock", 2): try lock(arguments[1])
        case ("half", 2): try half(arguments[1])
        case ("compact", 2): try await compact(arguments[1])
        case ("follow", 2): try await follow(arguments[1])
        case ("write", 3): try await write(arguments[1], seed: arguments[2])
        case ("web", 4): try await web(arguments[1], file: arguments[2], seconds: arguments[3])
        case ("kills", 4): try await rounds(arguments, KilledWriters.run)
        case ("closes", 4): try await rounds(arguments, ClosedWriters.run)
        case ("save", 5...6):
            let numbers = arguments[3...].map { Int($0) ?? 0 }
            try await save(arguments[1], prefix: arguments[2], numbers)
        default:
            say(usage)
            exit(64)
        }
    }

    /// Holds a lock until standard input ends.
    private static func lock(_ path: String) throws {
        switch try LocalFileSystem().lock(path) {
        case .acquired(let lock):
            say("locked")
            while readLine() != nil {}
            lock.release()
        case .held:
            say("held")
        }
    }

    /// Takes a database's lock, writes half a save, and waits until standard input ends.
    private static func half(_ path: String) throws {
        guard
            case .acquired(let lock) = try LocalFileSystem().lock(path.appending(path: "lock"))
        else { return say("held") }
        let journal = try LocalFileSystem()
            .openFile(at: path.appending(path: "journal-1.jsonl"), for: .appending)
        try journal.append(Array("{\"user\":\"local\",\"save\":{}}\n{\"user\":\"lo".utf8))
        say("half")
        while readLine() != nil {}
        lock.release()
    }

    /// Compacts repeatedly and prints a line after each compaction.
    private static func compact(_ path: String) async throws {
        let directory = LedgerDirectory(path: path)
        while true {
            try await directory.compact()
            say("compacted")
        }
    }

    /// Prints the name of each changed record until the process is killed.
    private static func follow(_ path: String) async throws {
        let database = LocalDatabase(directory: URL(filePath: path))
        let signals = database.signals
        var token = try await tell(database, after: nil)
        say("ready")
        for await _ in signals { token = try await tell(database, after: token) }
    }

    private static func tell(_ database: LocalDatabase, after token: ChangeToken?) async throws -> ChangeToken
    {
        let changes = try await database.recordZoneChanges(
            inZoneWith: zone,
            since: token,
            desiredKeys: [],
            resultsLimit: nil
        )
        for name in changes.modifications.keys.map(\.recordName).sorted() { say(name) }
        return changes.changeToken
    }

    /// Saves records in several requests and prints a line for each confirmed request.
    private static func save(_ path: String, prefix: String, _ numbers: [Int]) async throws {
        let database = LocalDatabase(directory: URL(filePath: path))
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        for request in 0..<numbers[0] {
            let saved = (0..<numbers[1]).map { index in
                Record(
                    recordType: "Note",
                    recordID: RecordID(recordName: "\(prefix)-\(request)-\(index)", zoneID: zone),
                    fields: ["text": .string(String(repeating: "x", count: 100 + index))]
                )
            }
            let result = try await database.modifyRecords(
                saving: saved,
                deleting: [],
                savePolicy: .ifServerRecordUnchanged,
                atomically: true
            )
            for outcome in result.saveResults.values { _ = try outcome.get() }
            say("\(request)")
            if numbers.count > 2, request % max(1, numbers[2]) == 0 { try await database.ledger.compact() }
        }
        await database.close()
    }

    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
