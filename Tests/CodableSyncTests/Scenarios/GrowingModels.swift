import CodableSync
import Foundation

/// Requires fields that version 1 does not write, and has defaults for them.
struct PlaceDefaulted: PlaceModel, FieldDefaulting {
    struct Owner: Codable, Hashable, Sendable {
        var name: String
    }

    var id: String
    var title = ""
    var stars = 3
    var owner = Owner(name: "nobody")
    var note: String?

    static let fieldDefaults = PlaceDefaulted(id: "", note: "never used")
}

/// The same, and keeps the cloud's model in conflicts.
struct PlaceServerWins: FieldDefaulting, Equatable {
    static var recordType: String { "Place" }

    var id: String
    var title = ""
    var stars = 3
    var recordName: String { id }

    static let fieldDefaults = PlaceServerWins(id: "")

    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { conflict.server }
}

/// Requires a field without a default.
struct PlaceRequiringStars: PlaceModel {
    var id: String
    var title = ""
    var stars = 3
}

/// A later version that has removed all but the title.
struct PlaceReduced: PlaceModel {
    var id: String
    var title = ""
}

/// Changes the type of a property under the same key.
struct PlaceRetyped: PlaceModel {
    var id: String
    var title = ""
    var stars: String
}

/// Changes the type of a property under a new key.
struct PlaceRekeyed: PlaceModel {
    enum CodingKeys: String, CodingKey { case id, title, stars = "rating" }

    var id: String
    var title = ""
    var stars: String?
}

/// Version 1, with a case for kinds that it does not know.
struct PlaceTolerant: PlaceModel {
    var id: String
    var title = ""
    var kind = PlaceWithFallback.Kind.town
    var address = PlaceV1.Address()
}
