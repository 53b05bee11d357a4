import Foundation
import RecordCoding

/// The medium model again, with a record name of its own in place of the default one.
package struct NamedLandmark: RecordCodable, Identifiable, Hashable {
    /// What the record's name is made from.
    package let id: UUID
    /// The name that is shown.
    package var name: String
    /// The country.
    package var country: String
    /// What it is.
    package var category: FlatLandmark.Category
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
    package var coordinate: FlatLandmark.Coordinate

    /// The text that Foundation makes of the identifier, as most apps write it.
    package var recordName: String { id.uuidString }

    /// Keeps the server's version.
    ///
    /// - Parameter conflict: Both sides and their ancestor.
    /// - Returns: `nil`.
    package static func resolveConflict(_ conflict: Conflict<NamedLandmark>) -> NamedLandmark? { nil }
}

extension NamedLandmark {
    /// The values of ``FlatLandmark/sample()``.
    ///
    /// - Throws: Never; the sample is valid.
    package static func sample() throws -> NamedLandmark {
        let flat = try FlatLandmark.sample()
        return NamedLandmark(
            id: flat.id,
            name: flat.name,
            country: flat.country,
            category: flat.category,
            isFavorite: flat.isFavorite,
            visits: flat.visits,
            elevation: flat.elevation,
            rating: flat.rating,
            opened: flat.opened,
            website: flat.website,
            tags: flat.tags,
            note: flat.note,
            coordinate: flat.coordinate
        )
    }
}
