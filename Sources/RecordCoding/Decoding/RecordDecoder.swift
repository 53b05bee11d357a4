import struct Foundation.Data

/// Decodes values from records, as the inverse of ``RecordEncoder``.
///
/// The decoder ignores fields that the type doesn't know. A field that is absent or null is `nil` for an
/// optional and `[]` for a list; CloudKit does not distinguish a cleared field from one that was never set.
/// For any other type, the decoder first tries to decode it from null, and then asks ``FieldDefaulting`` for
/// a default. So a property type's `init(from:)` may run with a null that the record doesn't contain, and
/// without any value (see ``RecordEncoder``); for input that it can't read, it must throw, not trap.
public struct RecordDecoder: Sendable {
    /// Creates a decoder.
    public init() {}

    /// Decodes the fields of a record.
    ///
    /// A type that conforms to ``SystemFieldsStoring`` receives the record's system fields.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - record: The record.
    /// - Returns: The value.
    /// - Throws: `DecodingError` with the coding path and an underlying ``RecordCodingError``, also if a
    ///   ``RecordCodable`` value's record name differs from the record's, or if a field has an invalid name;
    ///   any error that the value's own `init(from:)` throws, unchanged.
    public func decode<T: Decodable>(_ type: T.Type, from record: Record) throws -> T {
        let facts = ModelFacts.of(type)
        var value = try decode(type, facts, from: record, systemFields: record.systemFieldsBlob)
        if let model = facts.model { try checkName(of: &value, model, record.recordID.recordName) }
        return value
    }

    private func checkName<Value, Model: RecordCodable>(
        of value: inout Value,
        _ model: Model.Type,
        _ recordName: String
    ) throws {
        let modelName = with(&value, as: model) { $0.recordName }
        guard let modelName, !modelName.isIdentical(to: recordName) else { return }
        throw CodingPlace([]).corrupted(
            .recordNameMismatch(recordName: recordName.abbreviated, modelName: modelName.abbreviated)
        )
    }

    /// Passes a value as the model that it is, in place, since models are large to copy.
    private func with<Value, Model, Result>(
        _ value: inout Value,
        as type: Model.Type,
        _ body: (inout Model) -> Result
    ) -> Result? {
        // The types are the same, and a cast with `as?` takes several times as long.
        guard Value.self == Model.self else { return nil }
        return withUnsafeMutablePointer(to: &value) {
            body(&UnsafeMutableRawPointer($0).assumingMemoryBound(to: Model.self).pointee)
        }
    }

    /// Decodes fields, and passes a blob to a value that stores system fields; no other value needs the blob.
    func decode<T: Decodable>(
        _ type: T.Type,
        _ facts: ModelFacts,
        from record: Record,
        systemFields: @autoclosure () -> Data?
    ) throws -> T {
        let systemFields = facts.storing == nil ? nil : systemFields()
        let decoder = try FieldDecoder(
            record.fields,
            systemFields: facts.storing == nil ? nil : systemFields.map(RecordValue.bytes) ?? .null,
            defaulting: facts.defaulting,
            order: facts.order
        )
        var value = try T(from: decoder)
        // A model may omit the key from its coding keys.
        if let storing = facts.storing { store(systemFields, in: &value, storing) }
        return value
    }

    private func store<Value, Model: SystemFieldsStoring>(
        _ systemFields: Data?,
        in value: inout Value,
        _ model: Model.Type
    ) {
        _ = with(&value, as: model) { $0.systemFields = systemFields }
    }
}
