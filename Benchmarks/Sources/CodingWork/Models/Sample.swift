import Foundation
import RecordCoding

/// What the sample models are made of.
enum Sample {
    /// A sample that is not what it says; a fault of this package.
    struct Invalid: Error {
        let text: String
    }

    /// The identifier of every sample.
    static func id() throws -> UUID {
        let text = "6F1F6F5C-2A3B-4C5D-8E9F-0A1B2C3D4E5F"
        guard let id = UUID(uuidString: text) else { throw Invalid(text: text) }
        return id
    }

    /// An address.
    static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw Invalid(text: text) }
        return url
    }
}

extension SystemFields {
    /// What a server stores with a record.
    static let sample = SystemFields(
        recordChangeTag: "m3x9k2a7",
        creationDate: Date(timeIntervalSince1970: 1_700_000_000),
        modificationDate: Date(timeIntervalSince1970: 1_700_000_500.25),
        creatorUserRecordName: "_8f2b7c1d9e4a5f60",
        lastModifiedUserRecordName: "_8f2b7c1d9e4a5f60"
    )
}
