/// The kind of a field according to its static type alone.
enum StaticKind {
    /// Whether an array with elements of this type is a list, because they have a field kind or are raw-value
    /// enums.
    static func isListElement(_ type: Any.Type) -> Bool {
        type is any FieldConvertible.Type || isRawValue(type)
    }

    /// Whether a type is coded as its raw value, a string or a number.
    ///
    /// A type may have a raw value and yet be coded in another way, as types in user defaults often are. So
    /// this runs its `init(from:)` to find out which container it requests first, before it has read any
    /// value.
    static func isRawValue(_ type: Any.Type) -> Bool {
        guard let raw = type as? any RawRepresentable.Type, hasFieldRawValue(raw) else { return false }
        guard let decodable = type as? any Decodable.Type else { return true }
        return firstContainer(of: decodable) == .single
    }

    /// Whether the raw value of a type is a floating-point number.
    static func hasFloatingRawValue(_ type: Any.Type) -> Bool {
        func isFloating<Raw: RawRepresentable>(_ type: Raw.Type) -> Bool {
            Raw.RawValue.self == Double.self || Raw.RawValue.self == Float.self
        }
        guard let raw = type as? any RawRepresentable.Type else { return false }
        return isFloating(raw)
    }

    private static func hasFieldRawValue<Raw: RawRepresentable>(_ type: Raw.Type) -> Bool {
        Raw.RawValue.self is any RawFieldValue.Type
    }

    private static func firstContainer<Model: Decodable>(of type: Model.Type) -> ContainerProbe.Container? {
        let probe = ContainerProbe()
        // The probe throws for every request, so the outcome of `init(from:)` does not matter.
        do { _ = try Model(from: probe) } catch { return probe.first }
        return probe.first
    }
}

/// A raw value that is a string, an integer or a floating-point number.
private protocol RawFieldValue {}
extension String: RawFieldValue {}
extension Bool: RawFieldValue {}
extension Int: RawFieldValue {}
extension Int8: RawFieldValue {}
extension Int16: RawFieldValue {}
extension Int32: RawFieldValue {}
extension Int64: RawFieldValue {}
extension UInt: RawFieldValue {}
extension UInt8: RawFieldValue {}
extension UInt16: RawFieldValue {}
extension UInt32: RawFieldValue {}
extension UInt64: RawFieldValue {}
extension Double: RawFieldValue {}
extension Float: RawFieldValue {}

/// A decoder without values that notes the first request.
private final class ContainerProbe: Decoder {
    enum Container {
        case keyed, unkeyed, single
    }

    struct Nothing: Error {}

    private(set) var first: Container?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw answer(.keyed)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw answer(.unkeyed) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw answer(.single) }

    private func answer(_ container: Container) -> Nothing {
        first = first ?? container
        return Nothing()
    }
}
