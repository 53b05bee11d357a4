import CodingWork
import GRDB
import RowModels

extension Contender {
    /// GRDB's Codable records.
    static let grdb = Contender("GRDB")
}

extension Work {
    /// The same models as GRDB's Codable records: into the values of a row, and back.
    ///
    /// Nothing is written to a database, since encoding a record writes to none either.
    ///
    /// - Throws: If a model cannot be encoded.
    static func rows() throws -> [Work] {
        try rows("reminder", Reminder.sample())
            + rows("landmark", FlatLandmark.sample())
            + rows("document", Document.sample(), isLong: true)
    }

    private static func rows<Model: SameValuesAsRecords>(
        _ subject: String,
        _ model: Model,
        isLong: Bool = false
    ) throws -> [Work] {
        let row = Row(try model.databaseDictionary)
        return [
            Work(subject, "encode", by: .grdb, isLong: isLong) { try model.databaseDictionary },
            Work(subject, "decode", by: .grdb, isLong: isLong) { try Model(row: row) },
        ]
    }
}
