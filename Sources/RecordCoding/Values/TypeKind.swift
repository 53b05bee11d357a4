import struct Foundation.Data

/// How values of a type are coded; this follows from the type alone.
struct TypeKind: Sendable {
    fileprivate static let table = TypeTable<TypeKind>()

    /// The kind of a type, decided once.
    static func of(_ type: Any.Type) -> TypeKind { table.value(of: type) { TypeKind(type) } }

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

    /// How a value is coded inside of JSON.
    enum JSON: Sendable {
        /// As one value.
        case value(any JSONConvertible.Type)
        /// As an array in the order of its elements' bytes.
        case unordered
        /// As its wrapped value, or as a null.
        case optional
        /// As the type codes itself.
        case container
    }

    let field: Field
    let json: JSON

    private init(_ type: Any.Type) {
        field = Field(type)
        json = JSON(type)
    }
}

/// The kinds of types for one coder, which looks up most of them without a lock.
struct TypeKinds {
    private let known = TypeKind.table.snapshot

    subscript(type: Any.Type) -> TypeKind { known[ObjectIdentifier(type)] ?? TypeKind.of(type) }
}

extension TypeKind.Field {
    fileprivate init(_ type: Any.Type) {
        if let value = type as? any FieldConvertible.Type {
            self = .value(value)
        } else if type is any OptionalType.Type {
            self = .optional
        } else if let array = type as? any ArrayType.Type {
            switch TypeKind.of(array.element).field {
            case .value(let element): self = .values(element)
            case .single: self = .singles
            case .values, .singles, .optional, .json: self = .json
            }
        } else if let value = SingleValue.type(of: type) {
            self = .single(value)
        } else {
            self = .json
        }
    }

    /// Whether it is one value of bytes, which are not JSON.
    var isSingleData: Bool {
        if case .single(let type) = self { type == Data.self } else { false }
    }

    /// Whether a server may drop an empty value, because it is a list.
    var isList: Bool {
        switch self {
        case .values, .singles: true
        case .value, .single, .optional, .json: false
        }
    }
}

extension TypeKind.JSON {
    fileprivate init(_ type: Any.Type) {
        if let value = type as? any JSONConvertible.Type {
            self = .value(value)
        } else if let collection = type as? any UnorderedEncodable.Type, collection.isUnordered {
            self = .unordered
        } else {
            self = type is any OptionalType.Type ? .optional : .container
        }
    }
}

/// An optional, seen without its wrapped type.
protocol OptionalType {
    static var wrapped: Any.Type { get }
    var value: Any? { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
    var value: Any? { self }
}

/// An array, seen without the type of its elements.
protocol ArrayType {
    static var element: Any.Type { get }
}

extension Array: ArrayType {
    static var element: Any.Type { Element.self }
}
