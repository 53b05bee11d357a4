import Foundation

@testable import RecordCoding

/// Random types, and random values of them, for one seed.
struct RandomTrees {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func below(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
    fileprivate mutating func bits() -> UInt64 { generator.next() }
    fileprivate mutating func element<Element>(of array: [Element]) -> Element { array[below(array.count)] }

    /// A random type with three properties of random types.
    mutating func model() -> any Arbitrary.Type { trio(type(depth: 3), type(depth: 2), type(depth: 1)) }

    // MARK: Types

    private static let leaves: [any Arbitrary.Type] =
        keys.map { $0 as any Arbitrary.Type } + [
            Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self,
            UInt64.self, Bool.self, Double.self, Float.self, Data.self, URL.self, Decimal.self,
            RecordReference.self, RecordLocation.self, Tree.self, Lenient.self, SelfEncodedDate.self,
            SelfDecodedDate.self,
        ]

    private static let keys: [any ArbitraryKey.Type] = [
        Int.self, String.self, Date.self, UUID.self, Code.self, Season.self, Level.self,
    ]

    private mutating func type(depth: Int) -> any Arbitrary.Type {
        if depth == 0 { return element(of: RandomTrees.leaves) }
        switch below(14) {
        case 0: return optional(of: type(depth: depth - 1))
        case 1, 2: return array(of: type(depth: depth - 1))
        case 3: return set(of: key())
        case 4: return dictionary(String.self, type(depth: depth - 1))
        case 5: return dictionary(key(), type(depth: depth - 1))
        case 6: return trio(type(depth: depth - 1), type(depth: depth - 1), type(depth: 0))
        case 7: return choice(type(depth: depth - 1), type(depth: depth - 1))
        case 8: return single(type(depth: depth - 1))
        case 9: return manual(type(depth: depth - 1), type(depth: depth - 1))
        case 10: return derived(type(depth: depth - 1), type(depth: depth - 1))
        default: return type(depth: 0)
        }
    }

    private mutating func key() -> any ArbitraryKey.Type { element(of: RandomTrees.keys) }

    private func optional<T: Arbitrary>(of type: T.Type) -> any Arbitrary.Type {
        T.mayBeNull ? type : T?.self
    }
    private func array<T: Arbitrary>(of type: T.Type) -> any Arbitrary.Type { [T].self }
    private func set<T: ArbitraryKey>(of type: T.Type) -> any Arbitrary.Type { Set<T>.self }
    private func dictionary<K: ArbitraryKey, V: Arbitrary>(
        _ key: K.Type,
        _ value: V.Type
    ) -> any Arbitrary.Type { [K: V].self }
    private func trio<A: Arbitrary, B: Arbitrary, C: Arbitrary>(
        _ a: A.Type,
        _ b: B.Type,
        _ c: C.Type
    ) -> any Arbitrary.Type { Trio<A, B, C>.self }
    private func choice<A: Arbitrary, B: Arbitrary>(_ a: A.Type, _ b: B.Type) -> any Arbitrary.Type {
        Choice<A, B>.self
    }
    private func single<A: Arbitrary>(_ a: A.Type) -> any Arbitrary.Type { Single<A>.self }
    private func manual<A: Arbitrary, B: Arbitrary>(_ a: A.Type, _ b: B.Type) -> any Arbitrary.Type {
        Manual<A, B>.self
    }
    private func derived<A: Arbitrary, B: Arbitrary>(_ a: A.Type, _ b: B.Type) -> any Arbitrary.Type {
        Derived<A, B>.self
    }
}

/// A typed ID.
struct Code: RawRepresentable, ArbitraryKey {
    var rawValue: String

    static func random(_ random: inout RandomTrees) -> Code { Code(rawValue: .random(&random)) }
}

enum Season: String, ArbitraryKey, CaseIterable {
    case spring, summer, autumn, winter

    static func random(_ random: inout RandomTrees) -> Season { random.element(of: allCases) }
}

enum Level: Int, ArbitraryKey, CaseIterable {
    case low = -1
    case high = 9

    static func random(_ random: inout RandomTrees) -> Level { random.element(of: allCases) }
}

// MARK: Single values

extension FixedWidthInteger where Self: Arbitrary {
    static func random(_ random: inout RandomTrees) -> Self {
        // A field has 64 bits with a sign.
        let largest = Self(clamping: Int64.max)
        switch random.below(4) {
        case 0: return random.element(of: [0, 1, min, largest, min + 1, largest - 1])
        case 1: return Self(random.below(100))
        default:
            let value = Self(truncatingIfNeeded: random.bits() >> UInt64(random.below(64)))
            return value > largest ? largest : value
        }
    }
}

extension Int: ArbitraryKey {}
extension Int8: Arbitrary {}
extension Int16: Arbitrary {}
extension Int32: Arbitrary {}
extension Int64: Arbitrary {}
extension UInt: Arbitrary {}
extension UInt8: Arbitrary {}
extension UInt16: Arbitrary {}
extension UInt32: Arbitrary {}
extension UInt64: Arbitrary {}

extension Bool: Arbitrary {
    static func random(_ random: inout RandomTrees) -> Bool { random.below(2) == 0 }
}

extension Double: Arbitrary {
    static func random(_ random: inout RandomTrees) -> Double {
        let special: [Double] = [
            0, -0.0, 1, 0.1, -0.5, 1e15, 1e16, 1e17, 1e22, 1e23, 9_007_199_254_740_992,
            .leastNonzeroMagnitude,
            .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
        ]
        switch random.below(3) {
        case 0: return random.element(of: special)
        case 1: return Double(random.below(2_000_000) - 1_000_000) / 1000
        default:
            let number = Double(bitPattern: random.bits())
            return number.isFinite ? number : 2
        }
    }
}

extension Float: Arbitrary {
    static func random(_ random: inout RandomTrees) -> Float {
        switch random.below(3) {
        case 0:
            return random.element(of: [
                0, -0.0, 0.1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 16_777_216,
            ])
        case 1: return Float(random.below(2000)) / 8
        default:
            let number = Float(bitPattern: UInt32(truncatingIfNeeded: random.bits()))
            return number.isFinite ? number : 2
        }
    }
}

extension String: ArbitraryKey {
    private static let characters: [Character] = [
        "a", "B", "é", "e\u{301}", "ü", "\u{0}", "\u{1F}", "\"", "\\", "/", "\n", "\r\n", "\u{7F}", "\u{85}",
        "\u{2028}", "\u{FEFF}", "\u{FFFD}", "\u{FFFE}", "\u{10FFFF}", "漢", "👩‍👩‍👧", "🇩🇪", "א", "\u{202E}", ".",
        "_", "0",
        " ", "\u{301}", "\u{AC00}", "\u{1100}\u{1161}",
    ]

    static func random(_ random: inout RandomTrees) -> String {
        switch random.below(4) {
        case 0:
            return random.element(of: ["", "super", "systemFields", "wrappedValue", "_0", "codableSync", "1"])
        case 1:
            var text = ""
            for _ in 0..<random.below(6) {
                let ceiling = random.element(of: [0x20, 0x80, 0x800, 0xFFFF, 0x10FFFF])
                text.unicodeScalars.append(Unicode.Scalar(UInt32(random.below(ceiling))) ?? "\u{FFFD}")
            }
            return text
        default: return String((0..<random.below(9)).map { _ in random.element(of: characters) })
        }
    }
}

extension Date: ArbitraryKey {
    /// A date that a field holds exactly.
    static func random(_ random: inout RandomTrees) -> Date {
        switch random.below(3) {
        case 0:
            return random.element(of: [
                .distantPast, .distantFuture, Date(milliseconds: 0), Date(milliseconds: -1),
                Date(milliseconds: 253_402_300_799_999),
            ])
        case 1: return Date(milliseconds: Int64(random.below(4_000_000_000_000)))
        default: return Date(milliseconds: Int64(random.below(315_000_000_000_000)) - 62_000_000_000_000)
        }
    }
}

extension Data: Arbitrary {
    static func random(_ random: inout RandomTrees) -> Data {
        if random.below(5) == 0 { return Data(random.element(of: ["{}", "null", "[1]", "\"a\"", ""]).utf8) }
        return Data((0..<random.below(12)).map { _ in UInt8(random.below(256)) })
    }
}

extension UUID: ArbitraryKey {
    static func random(_ random: inout RandomTrees) -> UUID {
        let (high, low) = (random.bits(), random.bits())
        return withUnsafeBytes(of: (high, low)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension URL: Arbitrary {
    static func random(_ random: inout RandomTrees) -> URL {
        let texts = [
            "https://example.org", "https://example.org/a%20b?c=d&e=%2F#f", "http://[::1]:80/",
            "mailto:a@b.c",
            "urn:isbn:1", "ftp://u:p@h/x;type=a", "a/b", "?q", "https://ex.org/\(random.below(1000))",
        ]
        return URL(string: random.element(of: texts)) ?? URL(fileURLWithPath: "/")
    }
}

extension Decimal: Arbitrary {
    static func random(_ random: inout RandomTrees) -> Decimal {
        let digits = (0...random.below(37)).map { _ in String(random.below(10)) }.joined()
        let fraction = random.below(2) == 0 ? "" : ".\(random.below(10))5"
        let number = Decimal(string: (random.below(2) == 0 ? "-" : "") + digits + fraction)
        return number ?? 0
    }
}

extension RecordReference: Arbitrary {
    static func random(_ random: inout RandomTrees) -> RecordReference {
        RecordReference(
            recordName: "r\(random.below(100))",
            zoneID: random.below(2) == 0 ? nil : ZoneID(zoneName: "Z"),
            action: random.below(2) == 0 ? .none : .deleteSelf
        )
    }
}

extension RecordLocation: Arbitrary {
    static func random(_ random: inout RandomTrees) -> RecordLocation {
        RecordLocation(
            latitude: .random(&random),
            longitude: .random(&random),
            altitude: .random(&random),
            timestamp: .random(&random)
        )
    }
}
