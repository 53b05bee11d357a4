import Foundation
import RecordCoding

/// The medium model: thirteen fields, of the kinds that an app's models have.
package struct FlatLandmark: RecordCodable, Identifiable, Hashable {
    /// What a landmark is.
    package enum Category: String, Codable, Hashable, Sendable {
        /// Nobody built it.
        case nature
        /// Something high.
        case tower
    }

    /// A point on the earth, in degrees; as a nested value it is one field of JSON.
    package struct Coordinate: Codable, Hashable, Sendable {
        /// Degrees north of the equator.
        package var latitude: Double
        /// Degrees east of Greenwich.
        package var longitude: Double
    }

    /// The record's name.
    package let id: UUID
    /// The name that is shown.
    package var name: String
    /// The country.
    package var country: String
    /// What it is.
    package var category: Category
    /// Whether the user likes it best.
    package var isFavorite: Bool
    /// How often the user was there.
    package var visits: Int
    /// Metres above the sea.
    package var elevation: Double
    /// The user's stars, 0 to 5.
    package var rating: Double
    /// When it was opened.
    package var opened: Date
    /// The page about it.
    package var website: URL
    /// What it can be found by.
    package var tags: [String]
    /// What the user wrote.
    package var note: String?
    /// Where it is.
    package var coordinate: Coordinate

    /// Merges field by field.
    ///
    /// - Parameter conflict: Both sides and their ancestor.
    /// - Returns: The merged landmark.
    /// - Throws: If a side cannot be coded.
    package static func resolveConflict(_ conflict: Conflict<FlatLandmark>) throws -> FlatLandmark? {
        try conflict.merged()
    }
}

extension FlatLandmark {
    /// The landmark that is coded, always the same.
    ///
    /// - Throws: Never; the identifier and the address below are valid.
    package static func sample() throws -> FlatLandmark {
        FlatLandmark(
            id: try Sample.id(),
            name: "Fuji",
            country: "Japan",
            category: .nature,
            isFavorite: true,
            visits: 3,
            elevation: 3776.24,
            rating: 4.5,
            opened: Date(timeIntervalSince1970: 1_371_859_200.125),
            website: try Sample.url("https://example.com/landmarks/fuji"),
            tags: ["mountain", "volcano", "snow", "sunrise", "pilgrimage"],
            note: "Start before three in the morning, with a lamp.",
            coordinate: Coordinate(latitude: 35.360_638, longitude: 138.727_363)
        )
    }
    /// One of many landmarks.
    ///
    /// - Parameter number: Which one, from 0 on.
    /// - Returns: The sample, with a name of its own.
    /// - Throws: Never; the address is valid.
    package static func numbered(_ number: Int) throws -> FlatLandmark {
        let sample = try sample()
        let digits = String(number)
        let text = "6F1F6F5C-2A3B-4C5D-8E9F-" + String(repeating: "0", count: 12 - digits.count) + digits
        return FlatLandmark(
            id: UUID(uuidString: text) ?? sample.id,
            name: "Landmark \(number)",
            country: sample.country,
            category: sample.category,
            isFavorite: number.isMultiple(of: 2),
            visits: number,
            elevation: sample.elevation,
            rating: sample.rating,
            opened: sample.opened,
            website: try Sample.url("https://example.com/landmarks/\(number)"),
            tags: sample.tags,
            note: sample.note,
            coordinate: sample.coordinate
        )
    }
}
