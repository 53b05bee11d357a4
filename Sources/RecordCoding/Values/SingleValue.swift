import struct Foundation.UUID

/// The value that represents a type that codes itself in a single-value container.
struct SingleValue {
    /// The type of that value.
    let type: any FieldConvertible.Type
    /// Whether the type may encode a null in its place, since it can be decoded without a value.
    let mayBeNull: Bool

    /// Finds out which value a type codes itself as; `nil` if it doesn't code itself as a single value.
    ///
    /// That is the only type that its `init(from:)` requests from a single-value container, or else its raw
    /// value. To find out, this runs the `init(from:)` with a decoder that records each request and refuses it,
    /// once for each kind of error after which a type may request another one. A type that requests several
    /// types and has no raw value could encode values of different kinds, so it stays JSON.
    ///
    /// The decoder refuses keyed and unkeyed containers, so this runs no `init(from:)` of the type's members.
    init?(of type: Any.Type) {
        let raw = SingleValue.rawValue(of: type)
        let probe = DecodingProbe()
        var decodesNothing = false
        if let decodable = type as? any Decodable.Type {
            for refusal in DecodingProbe.Refusal.allCases where probe.decodes(decodable, refusal) {
                decodesNothing = true
            }
            // A type may have a raw value and yet be coded in another way, as types in user defaults often
            // are.
            guard probe.container == .single else { return nil }
        }
        guard let type = probe.only ?? raw else { return nil }
        self.type = type
        mayBeNull = decodesNothing && raw == nil
    }

    private static func rawValue(of type: Any.Type) -> (any FieldConvertible.Type)? {
        func rawValue<Raw: RawRepresentable>(_ type: Raw.Type) -> Any.Type { Raw.RawValue.self }
        guard let type = type as? any RawRepresentable.Type else { return nil }
        return rawValue(type) as? any FieldConvertible.Type
    }
}

/// A decoder without values that records which types are requested.
private final class DecodingProbe: Decoder, SingleValueDecodingContainer {
    enum Container {
        case keyed, unkeyed, single
    }

    /// The errors that a decoder throws for a value of the wrong type.
    enum Refusal: CaseIterable {
        case mismatch, corrupted, null
    }

    /// The first container that the type requested.
    private(set) var container: Container?
    private var values: [any Decodable.Type] = []
    private var asksForMore = false
    private var refusal = Refusal.mismatch
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Whether a type can be decoded although every request is refused.
    func decodes(_ type: any Decodable.Type, _ refusal: Refusal) -> Bool {
        self.refusal = refusal
        do {
            _ = try type.init(from: self)
            return true
        } catch {
            return false
        }
    }

    /// The only type that was requested; `nil` if there were several.
    var only: (any FieldConvertible.Type)? {
        guard !asksForMore, let first = values.first as? any FieldConvertible.Type else { return nil }
        // A wrapper may also let its value read itself, and a UUID reads itself as a string. A `CGFloat` asks
        // for either width of a number.
        let isOnly = values.allSatisfy {
            $0 == first || first == UUID.self && $0 == String.self || first == Double.self && $0 == Float.self
        }
        return isOnly ? first : nil
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw answer(.keyed, type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw answer(.unkeyed, [Any].self) }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        container = container ?? .single
        return self
    }

    /// Whether there is a null; a type that checks for null may encode one, so it stays JSON.
    func decodeNil() -> Bool {
        asksForMore = true
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        values.append(type)
        throw error(type)
    }

    private func answer(_ request: Container, _ type: Any.Type) -> DecodingError {
        if container != nil { asksForMore = true }
        container = container ?? request
        return error(type)
    }

    private func error(_ type: Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: [], debugDescription: "This decoder has no values.")
        return switch refusal {
        case .mismatch: .typeMismatch(type, context)
        case .corrupted: .dataCorrupted(context)
        case .null: .valueNotFound(type, context)
        }
    }
}
