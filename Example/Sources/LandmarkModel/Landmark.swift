public import RecordCoding

public import struct Foundation.Date
public import struct Foundation.URL

/// A landmark: one record, with fields of every kind.
///
/// | property | field |
/// |---|---|
/// | `name`, `country`, … | string, in any script |
/// | ``category`` | string: the enum's raw value |
/// | ``isFavorite``, ``isCapital`` | int64, 0 or 1 |
/// | ``rating``, ``population``, ``year`` | int64 |
/// | ``elevation`` | double |
/// | ``opened`` | date |
/// | ``website`` | string |
/// | ``alternateNames`` | list of strings |
/// | ``names``, ``coordinate`` | bytes: JSON, compared and merged as a whole |
///
/// An optional that is `nil` is an explicit null, so that clearing a note clears it on every device.
public struct Landmark: RecordCodable, Identifiable, Hashable {
    /// The record's name; it never changes.
    public let id: String
    /// The displayed name.
    public var name: String
    /// Other names of the place.
    public var alternateNames: [String]
    /// The name by language code.
    public var names: [String: String]
    /// The category.
    public var category: Category
    /// The location.
    public var coordinate: Coordinate
    /// The country.
    public var country: String?
    /// The region of the country.
    public var region: String?
    /// Meters above sea level.
    public var elevation: Double?
    /// The number of inhabitants.
    public var population: Int?
    /// Whether it is the capital of a country.
    public var isCapital: Bool?
    /// The name of the time zone, as in `Europe/Paris`.
    public var timeZone: String?
    /// The year of completion or foundation; negative for BC.
    public var year: Int?
    /// The opening day.
    public var opened: Date?
    /// A page about the landmark.
    public var website: URL?
    /// The identifier in Wikidata.
    public var wikidata: String?

    // What the user adds.

    /// Whether it is a favorite.
    public var isFavorite: Bool
    /// The user's rating, 0 to 5 stars; 0 means not rated.
    public var rating: Int
    /// The user's note.
    public var note: String?

    /// Creates a landmark with a name and a location.
    ///
    /// - Parameters:
    ///   - id: The record's name: ASCII, 1 to 255 characters, without a leading underscore.
    ///   - name: The displayed name.
    ///   - coordinate: The location.
    ///   - category: The category.
    public init(id: String, name: String, coordinate: Coordinate, category: Category = .other) {
        self.id = id
        self.name = name
        self.coordinate = coordinate
        self.category = category
        alternateNames = []
        names = [:]
        isFavorite = false
        rating = 0
    }

    /// Merges two edits field by field; if both changed a field, the later edit wins.
    ///
    /// - Parameter conflict: Both sides, and their common ancestor if it is known.
    /// - Returns: The merged landmark.
    /// - Throws: An error if a side can't be encoded as a record.
    public static func resolveConflict(_ conflict: Conflict<Landmark>) throws -> Landmark? {
        try conflict.merged()
    }
}
