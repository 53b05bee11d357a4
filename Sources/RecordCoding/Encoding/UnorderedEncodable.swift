/// A collection whose order differs between processes, so that it is sorted before it is written.
protocol UnorderedEncodable {
    /// Whether the collection is written as an array and has no order of its own.
    static var isUnordered: Bool { get }

    /// The contents of an array in an order that depends only on the values.
    func sortedContents(_ encode: (any Encodable) throws -> JSONContent) throws -> [JSONContent]
}

extension Set: UnorderedEncodable where Element: Encodable {
    static var isUnordered: Bool { true }

    func sortedContents(_ encode: (any Encodable) throws -> JSONContent) throws -> [JSONContent] {
        try map { try encode($0).bytes }
            .sorted { $0.lexicographicallyPrecedes($1) }
            .map(JSONContent.raw)
    }
}

extension Dictionary: UnorderedEncodable where Key: Encodable, Value: Encodable {
    /// Whether the dictionary is written as an array; one whose keys can be coding keys is an object with
    /// sorted keys.
    static var isUnordered: Bool { !(Key.self is any CodingKeyRepresentable.Type) }

    func sortedContents(_ encode: (any Encodable) throws -> JSONContent) throws -> [JSONContent] {
        try map { (key: try encode($0.key).bytes, value: try encode($0.value)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .flatMap { [.raw($0.key), $0.value] }
    }
}

/// An optional, seen without its wrapped type.
protocol OptionalEncodable {
    var wrapped: (any Encodable)? { get }
}

extension Optional: OptionalEncodable where Wrapped: Encodable {
    var wrapped: (any Encodable)? { self }
}
