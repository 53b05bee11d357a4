import Foundation

@testable import RecordCoding

/// A type of which random values can be made.
protocol Arbitrary: Codable, Equatable, SendableMetatype {
    static func random(_ random: inout RandomTrees) -> Self
    /// Whether a value may be coded as null, so that an optional of it could not be told from `nil`.
    static var mayBeNull: Bool { get }
}

/// A type of which random keys and elements of sets can be made.
protocol ArbitraryKey: Arbitrary, Hashable {}

extension Arbitrary {
    static var mayBeNull: Bool { false }
}

// MARK: Collections

extension Optional: Arbitrary where Wrapped: Arbitrary {
    static func random(_ random: inout RandomTrees) -> Wrapped? {
        random.below(3) == 0 ? nil : Wrapped.random(&random)
    }
    static var mayBeNull: Bool { true }
}

extension Array: Arbitrary where Element: Arbitrary {
    static func random(_ random: inout RandomTrees) -> [Element] {
        (0..<random.below(4)).map { _ in Element.random(&random) }
    }
}

extension Set: Arbitrary where Element: Arbitrary {
    static func random(_ random: inout RandomTrees) -> Set<Element> {
        var set = Set<Element>(minimumCapacity: random.below(30))
        for _ in 0..<random.below(8) { set.insert(Element.random(&random)) }
        return set
    }
}

extension Dictionary: Arbitrary where Key: Arbitrary, Value: Arbitrary {
    static func random(_ random: inout RandomTrees) -> [Key: Value] {
        var dictionary = [Key: Value](minimumCapacity: random.below(30))
        for _ in 0..<random.below(6) { dictionary[Key.random(&random)] = Value.random(&random) }
        return dictionary
    }
}

// MARK: Structures whose coding is synthesized

struct Trio<A: Arbitrary, B: Arbitrary, C: Arbitrary>: Arbitrary {
    var a: A
    var b: B
    var c: C
    var text: String?
    var number: Int64?

    static func random(_ random: inout RandomTrees) -> Self {
        Trio(
            a: .random(&random),
            b: .random(&random),
            c: .random(&random),
            text: .random(&random),
            number: .random(&random)
        )
    }
}

enum Choice<A: Arbitrary, B: Arbitrary>: Arbitrary {
    case none
    case one(A)
    case both(first: A, B)

    static func random(_ random: inout RandomTrees) -> Self {
        switch random.below(3) {
        case 0: .none
        case 1: .one(.random(&random))
        default: .both(first: .random(&random), .random(&random))
        }
    }
}

/// A tree of unknown depth.
indirect enum Tree: Arbitrary {
    case leaf(Double)
    case branch([Tree], label: String?)

    static func random(_ random: inout RandomTrees) -> Tree {
        random.below(3) > 0
            ? .leaf(.random(&random)) : .branch(.random(&random), label: .random(&random))
    }
}

// MARK: Structures that code themselves

/// A single value.
struct Single<Raw: Arbitrary>: Arbitrary {
    var raw: Raw

    init(_ raw: Raw) { self.raw = raw }
    init(from decoder: any Decoder) throws {
        raw = try decoder.singleValueContainer().decode(Raw.self)
    }
    func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(raw) }

    static func random(_ random: inout RandomTrees) -> Self { Self(.random(&random)) }
    static var mayBeNull: Bool { Raw.mayBeNull }
}

/// A date that its wrapper decodes as a whole, and that encodes itself.
struct SelfEncodedDate: Arbitrary {
    var date: Date

    init(_ date: Date) { self.date = date }
    init(from decoder: any Decoder) throws {
        date = try decoder.singleValueContainer().decode(Date.self)
    }
    func encode(to encoder: any Encoder) throws { try date.encode(to: encoder) }

    static func random(_ random: inout RandomTrees) -> Self { Self(.random(&random)) }
}

/// A date that decodes itself, and that its wrapper encodes as a whole.
struct SelfDecodedDate: Arbitrary {
    var date: Date

    init(_ date: Date) { self.date = date }
    init(from decoder: any Decoder) throws { date = try Date(from: decoder) }
    func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(date) }

    static func random(_ random: inout RandomTrees) -> Self { Self(.random(&random)) }
}

/// A number or anything else, which is `nil`.
struct Lenient: Arbitrary {
    var number: Int?

    init(_ number: Int?) { self.number = number }
    init(from decoder: any Decoder) throws {
        number = try? decoder.singleValueContainer().decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(number) }

    static func random(_ random: inout RandomTrees) -> Self { Self(.random(&random)) }
    static var mayBeNull: Bool { true }
}

/// Containers nested in each other, and super encoders with keys and in arrays.
struct Manual<A: Arbitrary, B: Arbitrary>: Arbitrary {
    enum Keys: String, CodingKey { case object, list, above }

    var a: A
    var b: B
    var others: [B]

    init(a: A, b: B, others: [B]) { (self.a, self.b, self.others) = (a, b, others) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        a = try container.nestedContainer(keyedBy: Keys.self, forKey: .object).decode(A.self, forKey: .above)
        b = try container.superDecoder(forKey: .above).singleValueContainer().decode(B.self)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        var inner = try list.nestedUnkeyedContainer()
        others = []
        while !inner.isAtEnd {
            others.append(try inner.superDecoder().singleValueContainer().decode(B.self))
        }
        _ = try list.nestedContainer(keyedBy: Keys.self).decode(A.self, forKey: .object)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        // The containers are filled in another order than they are made.
        var object = container.nestedContainer(keyedBy: Keys.self, forKey: .object)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        var inner = list.nestedUnkeyedContainer()
        var last = list.nestedContainer(keyedBy: Keys.self)
        try last.encode(a, forKey: .object)
        try container.superEncoder(forKey: .above).singleValueEncode(b)
        for other in others { try inner.superEncoder().singleValueEncode(other) }
        try object.encode(a, forKey: .above)
    }

    static func random(_ random: inout RandomTrees) -> Self {
        Manual(a: .random(&random), b: .random(&random), others: .random(&random))
    }
}

/// A class that codes what it inherits in its default place.
class Base<A: Arbitrary>: Codable {
    let inherited: A
    init(inherited: A) { self.inherited = inherited }
}

final class Derived<A: Arbitrary, B: Arbitrary>: Base<A>, Arbitrary {
    enum Keys: CodingKey { case own }

    let own: B

    init(own: B, inherited: A) {
        self.own = own
        super.init(inherited: inherited)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        own = try container.decode(B.self, forKey: .own)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(own, forKey: .own)
        try super.encode(to: container.superEncoder())
    }

    static func == (lhs: Derived, rhs: Derived) -> Bool {
        lhs.own == rhs.own && lhs.inherited == rhs.inherited
    }

    static func random(_ random: inout RandomTrees) -> Self {
        Self(own: .random(&random), inherited: .random(&random))
    }
}
