/// A collection whose order is another one in every process, so that it is sorted before it is written.
protocol UnorderedEncodable {
    /// Whether it is written as an array in its own order.
    var isUnordered: Bool { get }

    /// The boxes of an array in an order that depends on the contents only.
    func sortedBoxes(_ encode: (any Encodable) throws -> JSONBox) throws -> [JSONBox]
}

extension Set: UnorderedEncodable where Element: Encodable {
    var isUnordered: Bool { true }

    func sortedBoxes(_ encode: (any Encodable) throws -> JSONBox) throws -> [JSONBox] {
        try map { try encode($0).bytes }
            .sorted { $0.lexicographicallyPrecedes($1) }
            .map { JSONBox(.raw($0)) }
    }
}

extension Dictionary: UnorderedEncodable where Key: Encodable, Value: Encodable {
    /// A dictionary whose keys can be coding keys is an object, whose keys are sorted anyway.
    var isUnordered: Bool { !(Key.self is any CodingKeyRepresentable.Type) }

    func sortedBoxes(_ encode: (any Encodable) throws -> JSONBox) throws -> [JSONBox] {
        try map { (key: try encode($0.key).bytes, value: try encode($0.value)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .flatMap { [JSONBox(.raw($0.key)), $0.value] }
    }
}

/// An optional, seen without its wrapped type.
protocol OptionalEncodable {
    var wrapped: (any Encodable)? { get }
}

extension Optional: OptionalEncodable where Wrapped: Encodable {
    var wrapped: (any Encodable)? { self }
}
