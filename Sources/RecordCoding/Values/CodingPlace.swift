/// The coding path of a value: the path of its container, and its key there.
///
/// It is cheap to create; the full path is assembled only for an error.
struct CodingPlace {
    private let container: [any CodingKey]
    /// The key; `NoKey` for the container itself, since an optional of an existential is slow to copy.
    private let key: any CodingKey

    init(_ container: [any CodingKey]) { self.init(container, NoKey()) }

    init(_ container: [any CodingKey], _ key: any CodingKey) {
        self.container = container
        self.key = key
    }

    var codingPath: [any CodingKey] { key is NoKey ? container : container + [key] }

    /// The path as text: `coordinate.latitude`, `tags[3]`.
    var field: String {
        var text = ""
        for key in codingPath {
            if let index = key.intValue, key is IndexKey {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text
    }

    /// The place of an element of the array at this place.
    func element(_ index: Int) -> CodingPlace { CodingPlace(codingPath, IndexKey(index)) }

    /// The error for a value, made from the path as text.
    func encodingError(_ value: Any, _ error: (_ field: String) -> RecordCodingError) -> EncodingError {
        encodingError(value, error(field))
    }

    func encodingError(_ value: Any, _ error: RecordCodingError) -> EncodingError {
        let context = EncodingError.Context(
            codingPath: codingPath,
            debugDescription: error.message,
            underlyingError: error
        )
        return .invalidValue(value, context)
    }

    /// The error for a value of another kind than the type needs; a null is reported as missing.
    func mismatch(_ type: Any.Type, expected: String, found: String) -> DecodingError {
        let error = RecordCodingError.unexpectedKind(field: field, expected: expected, found: found)
        let context = context(error)
        return found == RecordValue.Kind.null.rawValue
            ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The error for a value of the right kind that the type cannot represent.
    func outOfRange(_ type: Any.Type, _ value: some CustomStringConvertible) -> DecodingError {
        corrupted(.valueOutOfRange(field: field, expected: "\(type)", value: value.description.abbreviated))
    }

    func missing() -> DecodingError { missing(.missingField(field: field)) }

    func missing(_ error: RecordCodingError) -> DecodingError {
        .keyNotFound(key is NoKey ? IndexKey(0) : key, context(error))
    }

    func corrupted(_ error: RecordCodingError) -> DecodingError { .dataCorrupted(context(error)) }

    private func context(_ error: RecordCodingError) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: error.message, underlyingError: error)
    }
}

/// A key that the coders put in a path; it is never made from a name or a number.
protocol PathKey: CodingKey {}

extension PathKey {
    init?(intValue: Int) { nil }
    init?(stringValue: String) { nil }

    var intValue: Int? { nil }
}

private struct NoKey: PathKey {
    var stringValue: String { "" }
}

/// The key of an element of an array.
struct IndexKey: PathKey {
    let index: Int

    init(_ index: Int) { self.index = index }

    var intValue: Int? { index }
    var stringValue: String { "Index \(index)" }
}

/// The default key under which a class encodes its superclass.
struct SuperKey: PathKey {
    var stringValue: String { "super" }
}
