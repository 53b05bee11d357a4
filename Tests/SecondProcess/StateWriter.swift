import CodableSync
import Foundation

/// What is written in the runs of kills and of closings: a text that is mostly padding, and a number that only grows.
struct Page: RecordCodable, Equatable {
    static var recordType: String { "Page" }
    var name: String
    var number: Int
    var text: String
    var recordName: String { name }

    static func resolveConflict(_ conflict: Conflict<Page>) throws -> Page? {
        conflict.client.number > conflict.server.number ? conflict.client : conflict.server
    }

    /// There is one device, so a deletion is its own, and nobody need be asked: the edit that is given up here is lost.
    static func resolveDeletion(of client: Page) throws -> Page? {
        SecondProcess.say("asked of the deletion of \(client.name) \(client.number)")
        return nil
    }
}

/// An engine whose files, and whose cloud's, are compacted all the time.
struct StateWriter {
    let engine: SyncEngine<Page>
    private let database: LocalDatabase

    init(in directory: String) {
        let url = URL(filePath: directory, directoryHint: .isDirectory)
        database = LocalDatabase(
            directory: url.appending(path: "cloud"),
            user: LocalDatabase.defaultUser,
            fileSystem: LocalFileSystem(),
            compactionSize: 16 << 10,
            clock: SystemClock()
        )
        var configuration = SyncConfiguration()
        configuration.storage = .directory(url.appending(path: "state"))
        configuration.automaticallySyncs = false
        configuration.keepsUndelivered = false
        configuration.compactionSize = 4 << 10
        configuration.logHandler = { event in
            switch event {
            case .stateRecovered, .stateUnwritable: SecondProcess.say("event \(event)")
            default: break
            }
        }
        engine = SyncEngine(database: database, configuration: configuration)
    }

    /// Writes one page, deletes one, or syncs; tells of each edit once it is acknowledged.
    func step(
        _ number: Int,
        _ random: inout some RandomNumberGenerator,
        tell: (WriterNote) -> Void
    ) async throws {
        let name = "p\(Int.random(in: 0..<12, using: &random))"
        switch Int.random(in: 0..<16, using: &random) {
        case 0:
            _ = try await engine.sync()
        case 1:
            tell(WriterNote(kind: .deleting, name: name, number: number))
            try await engine.delete(recordNames: [name])
            tell(WriterNote(kind: .deleted, name: name, number: number))
        default:
            let text = String(repeating: "x", count: Int.random(in: 0..<3000, using: &random))
            try await engine.upload(Page(name: name, number: number, text: text))
            tell(WriterNote(kind: .wrote, name: name, number: number))
        }
    }

    func close() async throws {
        try await engine.close()
        await database.close()
    }
}

/// What a writer says of its work.
struct WriterNote: CustomStringConvertible {
    enum Kind: String {
        /// Acknowledged.
        case wrote, deleted
        /// Begun: whether it is done shows.
        case deleting
    }

    var kind: Kind
    var name: String
    var number: Int

    init(kind: Kind, name: String, number: Int) {
        self.kind = kind
        self.name = name
        self.number = number
    }

    /// Reads a line as it was printed; `nil` if it says something else, or was cut off.
    init?(_ line: Substring) {
        let parts = line.split(separator: " ")
        guard parts.count == 4, parts[3] == ".", let kind = Kind(rawValue: String(parts[0])),
            let number = Int(parts[2])
        else { return nil }
        self.init(kind: kind, name: String(parts[1]), number: number)
    }

    var description: String { "\(kind.rawValue) \(name) \(number) ." }
}
