import CodableSync
import Foundation

/// The model of the kill and close rounds: a text that is mostly padding, and a number that only grows.
struct Page: RecordCodable, Equatable {
    static var recordType: String { "Page" }
    var name: String
    var number: Int
    var text: String
    var recordName: String { name }

    static func resolveConflict(_ conflict: Conflict<Page>) throws -> Page? {
        conflict.client.number > conflict.server.number ? conflict.client : conflict.server
    }

    /// With a single device, every deletion is its own, so this should never be called: the edit that it
    /// drops counts as lost.
    static func resolveDeletion(of client: Page) throws -> Page? {
        SecondProcess.say("asked of the deletion of \(client.name) \(client.number)")
        return nil
    }
}

/// An engine that constantly compacts its own files and those of its cloud.
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
        configuration.compactionSize = 4 << 10
        configuration.logHandler = { event in
            switch event {
            case .stateRecovered, .storageFailed: SecondProcess.say("event \(event)")
            default: break
            }
        }
        engine = SyncEngine(database: database, configuration: configuration)
    }

    /// Writes a page, deletes one, or syncs; reports each edit once it is acknowledged.
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
            try await engine.delete(named: [name])
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

/// A writer's report about its work.
struct WriterNote: CustomStringConvertible {
    enum Kind: String {
        /// Acknowledged.
        case wrote, deleted
        /// Started; whether it completes is checked later.
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

    /// Parses a printed line; `nil` if it is something else or incomplete.
    init?(_ line: Substring) {
        let parts = line.split(separator: " ")
        guard parts.count == 4, parts[3] == ".", let kind = Kind(rawValue: String(parts[0])),
            let number = Int(parts[2])
        else { return nil }
        self.init(kind: kind, name: String(parts[1]), number: number)
    }

    var description: String { "\(kind.rawValue) \(name) \(number) ." }
}
