import struct Foundation.Data

/// How values of a type are coded; this follows from the type alone.
struct TypeKind: Sendable {
    fileprivate static let table = TypeTable<TypeKind>()
    /// The field kinds of types whose first use was inside JSON.
    private static let fields = TypeTable<Field>()
    /// The types whose kind is being decided, since their `init(from:)` may code a value of their own type.
    @TaskLocal private static var beingDecided: [ObjectIdentifier] = []

    /// How a field holds values of a type, decided once.
    ///
    /// This may run the type's `init(from:)`; see ``SingleValue``.
    static func field(of type: Any.Type) -> Field {
        if beingDecided.contains(ObjectIdentifier(type)) { return .json }
        return table.value(of: type) { TypeKind(field: decidedField(of: type), json: JSON(type)) }.field
            ?? fields.value(of: type) { decidedField(of: type) }
    }

    private static func decidedField(of type: Any.Type) -> Field {
        $beingDecided.withValue(beingDecided + [ObjectIdentifier(type)]) { Field(type) }
    }

    /// How values of a type are coded inside JSON, decided once.
    static func json(of type: Any.Type) -> JSON {
        table.value(of: type) { TypeKind(field: nil, json: JSON(type)) }.json
    }

    /// How a field holds a value.
    enum Field: Sendable {
        /// As one value.
        case value(any FieldConvertible.Type)
        /// As the one value that the type codes in a single-value container, such as its raw value.
        case single(any FieldConvertible.Type)
        /// As a list of values.
        case values(any FieldConvertible.Type)
        /// As a list, with one value for each element as for `single`.
        case singles
        /// As its wrapped value, or as a null.
        case optional
        /// As bytes of JSON.
        case json
    }

    /// How a value is coded inside JSON.
    enum JSON: Sendable {
        /// As one value.
        case value(any JSONConvertible.Type)
        /// As an array in the order of its elements' bytes.
        case unordered
        /// As its wrapped value, or as a null.
        case optional
        /// As the type codes itself; a dictionary with strings as keys is decoded as it would decode itself.
        case container(isDictionary: Bool)
    }

    /// `nil` if the type's first use was inside JSON, where it is not needed.
    fileprivate let field: Field?
    fileprivate let json: JSON
}

/// The kinds of types for one coder, which looks up most of them without a lock.
struct TypeKinds {
    private let known = TypeKind.table.snapshot

    /// How a field holds values of a type; `nil` if that was not decided when this was made.
    func field(_ type: Any.Type) -> TypeKind.Field? { known[ObjectIdentifier(type)]?.field }

    /// How values of a type are coded inside JSON; `nil` if that was not decided when this was made.
    func json(_ type: Any.Type) -> TypeKind.JSON? { known[ObjectIdentifier(type)]?.json }
}

/// A coder that keeps the kinds of types.
protocol TypeKindCoder: AnyObject {
    var kinds: TypeKinds { get set }
}

// A decision may run a model's `init(from:)`, which may use this coder: so the kinds are not accessed meanwhile.
extension TypeKindCoder {
    @inline(__always)
    func fieldKind(of type: Any.Type) -> TypeKind.Field { kinds.field(type) ?? decided(type, TypeKind.field) }

    @inline(__always)
    func jsonKind(of type: Any.Type) -> TypeKind.JSON { kinds.json(type) ?? decided(type, TypeKind.json) }

    private func decided<Kind>(_ type: Any.Type, _ decide: (Any.Type) -> Kind) -> Kind {
        let kind = decide(type)
        kinds = TypeKinds()
        return kind
    }
}

extension TypeKind.Field {
    fileprivate init(_ type: Any.Type) {
        if let value = type as? any FieldConvertible.Type {
            self = .value(value)
        } else if type is any OptionalType.Type {
            self = .optional
        } else if let array = type as? any ArrayType.Type {
            switch TypeKind.field(of: array.element) {
            case .value(let element): self = .values(element)
            // A list has no nulls.
            case .single: self = SingleValue(of: array.element)?.mayBeNull == true ? .json : .singles
            case .values, .singles, .optional, .json: self = .json
            }
        } else if let value = SingleValue(of: type) {
            self = .single(value.type)
        } else {
            self = .json
        }
    }

    /// Whether it is a single value of bytes, as opposed to JSON.
    var isSingleData: Bool {
        if case .single(let type) = self { type == Data.self } else { false }
    }
}

extension TypeKind.JSON {
    fileprivate init(_ type: Any.Type) {
        if let value = type as? any JSONConvertible.Type {
            self = .value(value)
        } else if let collection = type as? any UnorderedEncodable.Type, collection.isUnordered {
            self = .unordered
        } else {
            self =
                type is any OptionalType.Type
                ? .optional : .container(isDictionary: type is any StringDictionary.Type)
        }
    }
}

/// An optional, seen without its wrapped type.
protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}

/// An array, seen without the type of its elements.
protocol ArrayType {
    static var element: Any.Type { get }

    init()
}

extension Array: ArrayType {
    static var element: Any.Type { Element.self }
}
