import CodableSync
import Foundation

// begin trip
/// What all versions of the app have in common: the type of the records, and how conflicts are resolved.
protocol TripModel: RecordCodable, Identifiable, Equatable where ID == String {}

extension TripModel {
    static var recordType: String { "Trip" }

    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { try conflict.merged() }
}

/// The first version.
struct Trip: TripModel {
    let id: String
    var title: String
}
// end trip

// begin noted
/// Adds an optional.
struct NotedTrip: TripModel {
    let id: String
    var title: String
    var note: String?
}
// end noted

// begin rated
/// Adds a required property.
struct RatedTrip: TripModel, FieldDefaulting {
    let id: String
    var title: String
    var rating: Int

    static let fieldDefaults = RatedTrip(id: "", title: "", rating: 3)
}
// end rated

// begin kinds
/// Has an enum that decodes a case of a newer version as `other`.
struct SortedTrip: TripModel {
    enum Kind: String, Codable {
        case city, hike, other

        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            self = Kind(rawValue: text) ?? .other
        }
    }

    let id: String
    var title: String
    var kind: Kind?
}

/// Adds a case.
struct SailingTrip: TripModel {
    enum Kind: String, Codable {
        case city, hike, sail, other
    }

    let id: String
    var title: String
    var kind: Kind?
}
// end kinds

// begin renamed
/// Calls the title a name; the field keeps its name.
struct NamedTrip: TripModel {
    enum CodingKeys: String, CodingKey {
        case id
        case name = "title"
    }

    let id: String
    var name: String
}
// end renamed

// begin journey
/// The struct was called Trip, and its records still are.
struct Journey: RecordCodable, Identifiable, Equatable {
    static var recordType: String { "Trip" }

    let id: String
    var title: String

    static func resolveConflict(_ conflict: Conflict<Journey>) throws -> Journey? { try conflict.merged() }
}
// end journey

// begin priced
/// Has a price in whole crowns.
struct PricedTrip: TripModel {
    let id: String
    var title: String
    var price: Int?
}

/// Has an exact price, under a new key.
///
/// It keeps the former field for older versions of the app, and notices when one of them has changed it.
struct ExactTrip: TripModel {
    let id: String
    var title: String
    private var price: Int?
    private var exactPrice: Double?

    init(id: String, title: String, cost: Double? = nil) {
        self.id = id
        self.title = title
        self.cost = cost
    }

    var cost: Double? {
        get {
            if let exactPrice, Int(exactPrice.rounded()) == price { return exactPrice }
            return price.map(Double.init)
        }
        set {
            exactPrice = newValue
            price = newValue.map { Int($0.rounded()) }
        }
    }
}

/// Changes the type under the same key: the cloud refuses its records.
struct MispricedTrip: TripModel {
    let id: String
    var title: String
    var price: Double?
}
// end priced

// begin required
/// Requires the note, which is an optional in the version before.
struct DescribedTrip: TripModel, FieldDefaulting {
    let id: String
    var title: String
    var note: String

    static let fieldDefaults = DescribedTrip(id: "", title: "", note: "")
}
// end required

// begin nested
/// Has a nested value, which is one field of bytes.
struct PlacedTrip: TripModel {
    struct Place: Codable, Equatable {
        var city: String
    }

    let id: String
    var title: String
    var place: Place
}

/// The nested value gains an optional, and a required property with a default.
struct StreetTrip: TripModel {
    struct Place: Codable, Equatable {
        var city: String
        var street: String?
        var floor = 0

        init(city: String, street: String? = nil, floor: Int = 0) {
            (self.city, self.street, self.floor) = (city, street, floor)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            city = try container.decode(String.self, forKey: .city)
            street = try container.decodeIfPresent(String.self, forKey: .street)
            floor = try container.decodeIfPresent(Int.self, forKey: .floor) ?? 0
        }
    }

    let id: String
    var title: String
    var place: Place
}
// end nested

// begin wrapped
/// A text without spaces at its ends, coded as its raw value: its field is a string.
@propertyWrapper
struct Trimmed: RawRepresentable, Codable, Equatable, Sendable {
    let rawValue: String

    init(rawValue: String) { self.rawValue = rawValue.trimmingCharacters(in: .whitespaces) }

    init(wrappedValue: String) { self.init(rawValue: wrappedValue) }

    var wrappedValue: String {
        get { rawValue }
        set { self = Trimmed(rawValue: newValue) }
    }
}

/// Wraps a property that was a plain string.
struct TrimmedTrip: TripModel {
    let id: String
    @Trimmed var title: String
}
// end wrapped

// begin typed
/// Has an ID of its own type, which is coded as its raw value too.
struct IdentifiedTrip: RecordCodable, Identifiable, Equatable {
    struct ID: RawRepresentable, Codable, Hashable, Sendable {
        var rawValue: String
    }

    static var recordType: String { "Trip" }

    let id: ID
    var title: String

    var recordName: String { id.rawValue }

    static func resolveConflict(_ conflict: Conflict<IdentifiedTrip>) throws -> IdentifiedTrip? {
        try conflict.merged()
    }
}
// end typed

// begin measured
/// Has a distance whose coding Swift synthesizes: an object, so the field is bytes.
struct PlannedTrip: TripModel {
    struct Distance: Codable, Equatable {
        var kilometres: Double
    }

    let id: String
    var title: String
    var distance: Distance?
}

/// Codes the distance as one value, under the same key: the field would be a double.
struct MeasuredTrip: TripModel {
    struct Distance: Codable, Equatable {
        var kilometres: Double

        init(kilometres: Double) { self.kilometres = kilometres }

        init(from decoder: any Decoder) throws {
            kilometres = try decoder.singleValueContainer().decode(Double.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(kilometres)
        }
    }

    let id: String
    var title: String
    var distance: Distance?
}
// end measured

// begin schema
/// Has the title in capitals: a version that writes it in another way would damage it.
struct CapitalTrip: TripModel {
    static var schemaVersion: Int { 2 }

    let id: String
    var title: String
}
// end schema
