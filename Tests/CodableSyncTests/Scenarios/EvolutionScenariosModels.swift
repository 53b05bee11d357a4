import CodableSync
import Foundation

/// One record type in several versions of an app.
protocol PlaceModel: RecordCodable, Equatable {
    var id: String { get }
}

extension PlaceModel {
    static var recordType: String { "Place" }
    var recordName: String { id }
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { try conflict.merged() }
}

/// The first version.
struct PlaceV1: PlaceModel {
    struct Address: Codable, Hashable, Sendable {
        var city = "Oslo"
    }

    enum Kind: String, Codable, Sendable {
        case town, hill
    }

    var id: String
    var title = ""
    var kind = Kind.town
    var address = Address()
}

/// Adds an optional, a field with a default, and a nested field.
struct PlaceV2: PlaceModel {
    struct Address: Codable, Hashable, Sendable {
        var city = "Oslo"
        var street: String?
    }

    enum Kind: String, Codable, Sendable {
        case town, hill, lake
    }

    var id: String
    var title = ""
    var kind = Kind.town
    var address = Address()
    var note: String?
    var stars = 3

    init(
        id: String,
        title: String = "",
        kind: Kind = .town,
        address: Address = Address(),
        note: String? = nil,
        stars: Int = 3
    ) {
        (self.id, self.title, self.kind) = (id, title, kind)
        (self.address, self.note, self.stars) = (address, note, stars)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        title = try container.decode(String.self, forKey: .title)
        kind = try container.decode(Kind.self, forKey: .kind)
        address = try container.decode(Address.self, forKey: .address)
        note = try container.decodeIfPresent(String.self, forKey: .note)
        stars = try container.decodeIfPresent(Int.self, forKey: .stars) ?? 3
    }
}

/// Requires a field that older versions do not write.
struct PlaceRequiring: PlaceModel {
    var id: String
    var title = ""
    var owner: String
}

/// An update that makes the field optional.
struct PlaceMended: PlaceModel {
    var id: String
    var title = ""
    var owner: String?
}

/// Has a schema version that keeps older versions from editing its records.
struct PlaceNewSchema: PlaceModel {
    static var schemaVersion: Int { 2 }

    var id: String
    var title = ""
    var kind = PlaceV1.Kind.town
    var address = PlaceV2.Address()
}

/// Decodes an unknown kind as a fallback.
struct PlaceWithFallback: PlaceModel {
    enum Kind: String, Codable, Sendable {
        case town, other

        init(from decoder: any Decoder) throws {
            self = Kind(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
        }
    }

    var id: String
    var title = ""
    var kind = Kind.town
}

/// Renames the title.
struct PlaceRenamed: PlaceModel {
    var id: String
    var name: String?
}

/// Has a field computed from others.
struct PlaceComputed: PlaceModel {
    private enum CodingKeys: String, CodingKey { case id, title, loud }

    let id: String
    var title: String
    var loud: String { title.uppercased() }

    init(id: String, title: String) {
        (self.id, self.title) = (id, title)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        title = try container.decode(String.self, forKey: .title)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(title, forKey: .title)
        try container.encode(loud, forKey: .loud)
    }
}
