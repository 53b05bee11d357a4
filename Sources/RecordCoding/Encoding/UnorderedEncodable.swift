/// A collection whose order differs between processes, so that it is sorted before it is written.
protocol UnorderedEncodable {
    /// Whether the collection is written as an array and has no order of its own.
    static var isUnordered: Bool { get }

    /// The JSON of the elements of an array in an order that depends only on the values.
    func sortedJSON(_ encode: (any Encodable) throws -> [UInt8]) throws -> [[UInt8]]
}

extension Set: UnorderedEncodable where Element: Encodable {
    static var isUnordered: Bool { true }

    func sortedJSON(_ encode: (any Encodable) throws -> [UInt8]) throws -> [[UInt8]] {
        try map { try encode($0) }.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension Dictionary: UnorderedEncodable where Key: Encodable, Value: Encodable {
    /// Whether the dictionary is written as an array; one whose keys can be coding keys is an object with
    /// sorted keys.
    static var isUnordered: Bool { !(Key.self is any CodingKeyRepresentable.Type) }

    func sortedJSON(_ encode: (any Encodable) throws -> [UInt8]) throws -> [[UInt8]] {
        try map { (key: try encode($0.key), value: try encode($0.value)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .flatMap { [$0.key, $0.value] }
    }
}

/// An optional, seen without its wrapped type.
protocol OptionalEncodable {
    var wrapped: (any Encodable)? { get }
}

extension Optional: OptionalEncodable where Wrapped: Encodable {
    var wrapped: (any Encodable)? { self }
}
