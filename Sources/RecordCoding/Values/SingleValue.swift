import struct Foundation.UUID

/// Finds out which value stands for a type that codes itself in a single-value container.
enum SingleValue {
    /// The type of that value; `nil` if the type is coded otherwise.
    ///
    /// It is the only type that it asks a single-value container for, or else its raw value. So this runs
    /// the `init(from:)` with a decoder that notes each request and grants none, once for each error after
    /// which a type may ask for another value. A type that asks for more than one type and has no raw value
    /// could encode values of different kinds, and stays JSON.
    static func type(of type: Any.Type) -> (any FieldConvertible.Type)? {
        let raw = rawValue(of: type)
        guard let decodable = type as? any Decodable.Type else { return raw }
        let probe = DecodingProbe()
        for refusal in DecodingProbe.Refusal.allCases { probe.decode(decodable, refusal) }
        // A type may have a raw value and yet be coded in another way, as types in user defaults often are.
        guard probe.container == .single else { return nil }
        return probe.only ?? raw
    }

    private static func rawValue(of type: Any.Type) -> (any FieldConvertible.Type)? {
        func rawValue<Raw: RawRepresentable>(_ type: Raw.Type) -> Any.Type { Raw.RawValue.self }
        guard let type = type as? any RawRepresentable.Type else { return nil }
        return rawValue(type) as? any FieldConvertible.Type
    }
}

/// A decoder without values that notes what a type asks for.
private final class DecodingProbe: Decoder, SingleValueDecodingContainer {
    enum Container {
        case keyed, unkeyed, single
    }

    /// The errors that a decoder throws for a value that it has.
    enum Refusal: CaseIterable {
        case mismatch, corrupted, null
    }

    /// The first container that the type asked for.
    private(set) var container: Container?
    private var values: [any Decodable.Type] = []
    private var asksForMore = false
    private var refusal = Refusal.mismatch
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func decode(_ type: any Decodable.Type, _ refusal: Refusal) {
        self.refusal = refusal
        // Every request throws, so the outcome does not matter.
        do { _ = try type.init(from: self) } catch { return }
    }

    /// The only type that was asked for.
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

    /// Whether there is a null; a type that asks codes nulls too, so it stays JSON.
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
