import CodingWork
import GRDB

extension Reminder: SameValuesAsRecords {}
extension FlatLandmark: SameValuesAsRecords {}
extension Document: SameValuesAsRecords {}

/// A model whose row has the same values as its record, as far as a row can.
///
/// By default, GRDB would store the bytes of a UUID, which is less work, and format a date, which is more.
package protocol SameValuesAsRecords: FetchableRecord, EncodableRecord, Codable, Sendable {}

extension SameValuesAsRecords {
    /// The upper-case text.
    package static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }

    /// A number of milliseconds.
    package static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .millisecondsSince1970
    }

    /// A number of milliseconds.
    package static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .millisecondsSince1970
    }
}

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
