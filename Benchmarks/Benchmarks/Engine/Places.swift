import CodableSync
import CodingWork
import Foundation
import GRDB
import RowModels

extension FlatLandmark: PersistableRecord {
    package static var databaseTableName: String { "landmark" }
}

/// A folder that goes with the value.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = URL.temporaryDirectory.appending(path: "CodableSync-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: url) } catch { print("\(url.path) is left: \(error)") }
    }
}

/// An engine that syncs only when it is told to.
func makeEngine(
    in folder: URL,
    _ database: any CloudDatabase,
    _ durability: SyncConfiguration.Durability
) -> SyncEngine<FlatLandmark> {
    var configuration = SyncConfiguration()
    configuration.storage = .directory(folder)
    configuration.automaticallySyncs = false
    configuration.durability = durability
    return SyncEngine(database: database, configuration: configuration)
}

/// A database of landmarks.
///
/// - Parameters:
///   - folder: Where it is.
///   - isFlushed: Whether each transaction is flushed.
/// - Returns: A database in WAL mode, with one table.
/// - Throws: What SQLite throws.
func makePool(in folder: URL, isFlushed: Bool) throws -> DatabasePool {
    let pool = try DatabasePool(path: folder.appending(path: "landmarks.sqlite").path)
    // A pool's own setting is NORMAL.
    if isFlushed { try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") } }
    try pool.write { database in
        try database.create(table: FlatLandmark.databaseTableName, options: .ifNotExists) { table in
            table.primaryKey("id", .text)
            for column in ["name", "country", "category", "website", "tags", "note", "coordinate"] {
                table.column(column, .text)
            }
            table.column("isFavorite", .boolean)
            for column in ["visits", "opened"] { table.column(column, .integer) }
            for column in ["elevation", "rating"] { table.column(column, .double) }
        }
    }
    return pool
}

/// 20 000 landmarks that are synced, and the same in SQLite, made once.
struct ManyLandmarks {
    static let count = 20_000

    let folder: URL

    /// Makes them unless another process of this build did.
    init() async throws {
        let program = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let made = try FileManager.default.attributesOfItem(atPath: program.path)[.modificationDate] as? Date
        let stamp = made.map { String(Int($0.timeIntervalSince1970)) } ?? "unknown"
        folder = URL.temporaryDirectory.appending(path: "CodableSync-benchmarks-many-\(stamp)")
        let isDone = folder.appending(path: "done")
        if FileManager.default.fileExists(atPath: isDone.path) { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let engine = makeEngine()
        let pool = try makePool()
        for start in stride(from: 0, to: Self.count, by: 1000) {
            let landmarks = try (start..<start + 1000).map(FlatLandmark.numbered)
            try await engine.upload(landmarks)
            try await pool.write { database in for landmark in landmarks { try landmark.insert(database) } }
        }
        try await engine.sync()
        try await engine.close()
        try pool.close()
        try Data().write(to: isDone)
    }

    func makeEngine() -> SyncEngine<FlatLandmark> {
        let cloud = LocalDatabase(directory: folder.appending(path: "cloud"))
        return EngineBenchmarks.makeEngine(in: folder.appending(path: "state"), cloud, .written)
    }

    func makePool() throws -> DatabasePool { try EngineBenchmarks.makePool(in: folder, isFlushed: false) }
}
