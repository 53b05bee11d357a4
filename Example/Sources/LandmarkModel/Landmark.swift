public import RecordCoding

public import struct Foundation.Date
public import struct Foundation.URL

/// A place worth a visit: one record, with a field of every kind.
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
    /// The name that is shown.
    public var name: String
    /// Other names of the place.
    public var alternateNames: [String]
    /// The name by language code.
    public var names: [String: String]
    /// What it is.
    public var category: Category
    /// Where it is.
    public var coordinate: Coordinate
    /// The country.
    public var country: String?
    /// The part of the country.
    public var region: String?
    /// Metres above the sea.
    public var elevation: Double?
    /// How many people live there.
    public var population: Int?
    /// Whether it is the capital of a country.
    public var isCapital: Bool?
    /// The name of the time zone, as in `Europe/Paris`.
    public var timeZone: String?
    /// The year in which it was finished or founded; negative before our era.
    public var year: Int?
    /// The day on which it was opened.
    public var opened: Date?
    /// The page about it.
    public var website: URL?
    /// The identifier in Wikidata.
    public var wikidata: String?

    // What the user says about it.

    /// Whether the user likes it best.
    public var isFavorite: Bool
    /// The user's stars, 0 to 5; 0 is none.
    public var rating: Int
    /// What the user wrote.
    public var note: String?

    /// Makes a landmark of which only name and place are known.
    ///
    /// - Parameters:
    ///   - id: The record's name: ASCII, 1 to 255 characters, without a leading underscore.
    ///   - name: The name that is shown.
    ///   - coordinate: Where it is.
    ///   - category: What it is.
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

    /// Merges two edits field by field; a field that both changed goes to the later edit.
    ///
    /// - Parameter conflict: Both sides, and their common ancestor where known.
    /// - Returns: The merged landmark.
    /// - Throws: If a side cannot be coded as a record.
    public static func resolveConflict(_ conflict: Conflict<Landmark>) throws -> Landmark? {
        try conflict.merged()
    }
}
