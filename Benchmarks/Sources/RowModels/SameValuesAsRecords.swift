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
