import CodableSync
import Foundation

/// A model with every kind of field that a record can get wrong.
struct Sample: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    enum Season: String, Codable, Sendable {
        case spring, autumn
    }

    struct Place: Codable, Hashable, Sendable {
        var latitude = 1.0
        var longitude = 2.0
    }

    var id: String
    var text = "text"
    var note: String?
    var small: UInt8 = 1
    var count = 1
    var season = Season.spring
    var place = Place()
    var list = ["a"]

    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<Sample>) throws -> Sample? { try conflict.merged() }
}

/// Stores system fields, which may be invalid.
struct Stored: SystemFieldsStoring, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var title = ""
    var systemFields: Data?

    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<Stored>) throws -> Stored? {
        Calls.shared.note(Stored.self)
        return try conflict.merged()
    }
}
