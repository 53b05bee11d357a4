import Foundation
import RecordCoding

/// A model with a string as its ID.
protocol SimpleModel: FieldDefaulting, Equatable, Identifiable where ID == String {}

extension SimpleModel {
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { try conflict.merged() }
}

/// Version 1 had an ID only.
struct Grown: SimpleModel {
    var id: String
    var stars = 3
    var kind = Everything.Season.autumn
    var coordinate = Everything.Coordinate(latitude: 1, longitude: 2)
    var points = [Everything.Coordinate(latitude: 3, longitude: 4)]
    var added = Date(timeIntervalSinceReferenceDate: 5)
    var note: String?
    var season: Everything.Season?
    var tags: [String] = []
    var trimmed = Trimmed()

    static let fieldDefaults = Grown(
        id: "",
        note: "default",
        season: .spring,
        tags: ["default"],
        trimmed: Trimmed(text: "default")
    )
}

/// Decodes null as `nil`.
struct Trimmed: Codable, Equatable {
    var text: String?

    init(text: String? = nil) { self.text = text }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = container.decodeNil() ? nil : try container.decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Codes nested containers itself, and decodes one of them in two parts.
struct Nesting: SimpleModel {
    enum CodingKeys: String, CodingKey { case id, pair, list }
    enum PairKeys: String, CodingKey { case first, second }

    var id = ""
    var first = 1
    var second = 2
    var list = 3
    var base = 4

    static let fieldDefaults = Nesting()

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        first = try container.nestedContainer(keyedBy: PairKeys.self, forKey: .pair)
            .decode(Int.self, forKey: .first)
        second = try container.nestedContainer(keyedBy: PairKeys.self, forKey: .pair)
            .decode(Int.self, forKey: .second)
        var unkeyed = try container.nestedUnkeyedContainer(forKey: .list)
        list = try unkeyed.decode(Int.self)
        base = try container.superDecoder().singleValueContainer().decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        var pair = container.nestedContainer(keyedBy: PairKeys.self, forKey: .pair)
        try pair.encode(first, forKey: .first)
        try pair.encode(second, forKey: .second)
        var unkeyed = container.nestedUnkeyedContainer(forKey: .list)
        try unkeyed.encode(list)
        var single = container.superEncoder().singleValueContainer()
        try single.encode(base)
    }
}

/// Counts how often it is encoded.
struct Counting: SimpleModel {
    final class Counter: @unchecked Sendable {
        // Used only by one test, on one thread.
        var count = 0
    }

    static let encodings = Counter()

    var id = ""
    var a = 3
    var b = 4

    static var fieldDefaults: Counting { Counting() }

    func encode(to encoder: any Encoder) throws {
        Counting.encodings.count += 1
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(a, forKey: .a)
        try container.encode(b, forKey: .b)
    }

    private enum CodingKeys: CodingKey { case id, a, b }
}

/// Has a default that is null, since it is encoded as an optional.
struct Holey: SimpleModel {
    var id = ""
    var stars = 3

    static let fieldDefaults = Holey()

    private enum CodingKeys: CodingKey { case id, stars }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encodeNil(forKey: .stars)
    }
}

/// Has a default that no record can have.
struct Infinite: SimpleModel {
    var id = ""
    var ratio = Double.infinity

    static let fieldDefaults = Infinite()
}

/// Throws when it is encoded.
struct Failing: SimpleModel {
    struct Refused: Error {}

    var id = ""
    var a = 1

    static let fieldDefaults = Failing()

    func encode(to encoder: any Encoder) throws { throw Refused() }
}

/// Makes its defaults from a record that lacks the same field.
struct Recursive: SimpleModel {
    var id: String
    var stars: Int

    static var fieldDefaults: Recursive {
        let record = Record(
            recordType: "Recursive",
            recordID: RecordID(recordName: "a"),
            fields: ["id": "a"]
        )
        do {
            return try RecordDecoder().decode(Recursive.self, from: record)
        } catch {
            return Recursive(id: "a", stars: 7)
        }
    }
}
