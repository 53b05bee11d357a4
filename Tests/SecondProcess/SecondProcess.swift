import CodableSync
import Foundation

/// Another process, for the tests that need one; it says each thing that it has done on a line of its own.
@main
enum SecondProcess {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "lock" where arguments.count == 2: try lock(arguments[1])
        case "save" where arguments.count == 5:
            try await save(arguments[1], prefix: arguments[2], Int(arguments[3]) ?? 1, Int(arguments[4]) ?? 1)
        default:
            say("usage: SecondProcess lock PATH | save DIRECTORY PREFIX REQUESTS RECORDS")
            exit(64)
        }
    }

    /// Holds a lock until the standard input ends.
    private static func lock(_ path: String) throws {
        switch try LocalFileSystem().lock(path, waiting: false) {
        case .acquired(let lock):
            say("locked")
            while readLine() != nil {}
            lock.release()
        case .held:
            say("held")
        }
    }

    /// Saves records, some in each request, and says how many requests were answered.
    private static func save(_ path: String, prefix: String, _ requests: Int, _ records: Int) async throws {
        let database = LocalDatabase(directory: URL(filePath: path))
        let zone = ZoneID(zoneName: "Note")
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        for request in 0..<requests {
            let saved = (0..<records).map { index in
                Record(
                    recordID: RecordID(recordName: "\(prefix)-\(request)-\(index)", zoneID: zone),
                    recordType: "Note",
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
        }
        await database.close()
    }

    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
