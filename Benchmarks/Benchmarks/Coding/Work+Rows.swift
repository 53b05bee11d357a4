import CodingWork
import Foundation
import GRDB

extension FlatLandmark: FetchableRecord, PersistableRecord {
    /// The table's name.
    package static var databaseTableName: String { "landmark" }
}

extension Reminder: FetchableRecord, PersistableRecord {
    /// The table's name.
    package static var databaseTableName: String { "reminder" }
}

extension Document: FetchableRecord, PersistableRecord {
    /// The table's name.
    package static var databaseTableName: String { "document" }
}

extension Contender {
    /// GRDB's Codable records.
    static let grdb = Contender("GRDB")
}

extension Work {
    /// The same models as GRDB's Codable records: into and out of a row, and a table in memory.
    ///
    /// - Throws: If the database cannot be set up.
    static func database() throws -> [Work] {
        let queue = try DatabaseQueue()
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE reminder (id BLOB PRIMARY KEY, title TEXT, isDone INTEGER);
                    CREATE TABLE landmark (
                        id BLOB PRIMARY KEY, name TEXT, country TEXT, category TEXT, isFavorite INTEGER, visits INTEGER,
                        elevation REAL, rating REAL, opened TEXT, website TEXT, tags TEXT, note TEXT, coordinate TEXT
                    );
                    CREATE TABLE document (id BLOB PRIMARY KEY, title TEXT, text TEXT, samples TEXT);
                    """
            )
        }
        return try works("reminder", Reminder.sample(), in: queue)
            + works("landmark", FlatLandmark.sample(), in: queue)
            + works("document", Document.sample(), in: queue, isLong: true)
    }

    private typealias Stored = FetchableRecord & PersistableRecord & Codable & Identifiable & Sendable

    private static func works<Model: Stored>(
        _ subject: String,
        _ model: Model,
        in queue: DatabaseQueue,
        isLong: Bool = false
    ) throws -> [Work] where Model.ID: DatabaseValueConvertible & Sendable {
        try rows(subject, model, isLong: isLong) + table(subject, model, in: queue, isLong: isLong)
    }

    /// A model into the values of a row, and back.
    private static func rows<Model: Stored>(
        _ subject: String,
        _ model: Model,
        isLong: Bool
    ) throws -> [Work] {
        let row = Row(try model.databaseDictionary)
        return [
            Work(subject, "encode", by: .grdb, isLong: isLong) { try model.databaseDictionary },
            Work(subject, "decode", by: .grdb, isLong: isLong) { try Model(row: row) },
        ]
    }

    /// A model into a table in memory, and back, in one transaction for all repetitions.
    private static func table<Model: Stored>(
        _ subject: String,
        _ model: Model,
        in queue: DatabaseQueue,
        isLong: Bool
    ) throws -> [Work] where Model.ID: DatabaseValueConvertible & Sendable {
        let id = model.id
        try queue.write { try model.insert($0) }
        return [
            Work(
                subject,
                "save",
                by: .grdb,
                isLong: isLong,
                repeating: { count in
                    try queue.write { database in
                        for _ in 0..<count { try model.insert(database, onConflict: .replace) }
                    }
                }
            ),
            Work(
                subject,
                "load",
                by: .grdb,
                isLong: isLong,
                repeating: { count in
                    try queue.read { database in
                        for _ in 0..<count { _ = try Model.fetchOne(database, id: id) }
                    }
                }
            ),
        ]
    }
}
