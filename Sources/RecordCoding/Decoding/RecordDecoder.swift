import struct Foundation.Data

/// Decodes values from records, as the inverse of ``RecordEncoder``.
///
/// Fields that the type does not know are ignored. A field that is absent or null is `nil` for an optional
/// and `[]` for a list; CloudKit does not distinguish a cleared field from one that was never set. Any other
/// type is asked whether it can be decoded from null, and then ``FieldDefaulting`` for a default.
public struct RecordDecoder: Sendable {
    /// Makes a decoder.
    public init() {}

    /// Decodes the fields of a record.
    ///
    /// A type that conforms to ``SystemFieldsStoring`` receives the record's system fields.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - record: The record.
    /// - Returns: The value.
    /// - Throws: `DecodingError` with the coding path and a ``RecordCodingError`` below it, also when a
    ///   ``RecordCodable`` value has another record name than the record, or if a field has an invalid name;
    ///   an error that the value's own `init(from:)` throws, as it is.
    public func decode<T: Decodable>(_ type: T.Type, from record: Record) throws -> T {
        let value = try decode(type, from: record, systemFields: record.systemFields?.encodedBlob)
        if let model = ModelFacts.of(type).model {
            try checkName(of: value, as: model, record.recordID.recordName)
        }
        return value
    }

    private func checkName<Model: RecordCodable>(
        of value: Any,
        as type: Model.Type,
        _ recordName: String
    ) throws {
        guard let modelName = (value as? Model)?.recordName, !modelName.isIdentical(to: recordName) else {
            return
        }
        throw CodingPlace([]).corrupted(
            .recordNameMismatch(recordName: recordName.abbreviated, modelName: modelName.abbreviated)
        )
    }

    /// Decodes fields, and passes a blob to a value that stores system fields.
    func decode<T: Decodable>(_ type: T.Type, from record: Record, systemFields: Data?) throws -> T {
        do throws(RecordCodingError) {
            // A string with different bytes may equal a key of the model, and would be read in place of that
            // key's field.
            try RecordLimits.checkForeignFieldNames(record.fields.keys)
        } catch {
            throw CodingPlace([]).corrupted(error)
        }
        let facts = ModelFacts.of(type)
        let decoder = FieldDecoder(
            record.fields,
            systemFields: facts.storing == nil ? nil : systemFields.map(RecordValue.bytes) ?? .null,
            defaulting: facts.defaulting
        )
        let value = try T(from: decoder)
        // A model may omit the key from its coding keys.
        guard facts.storing != nil, var model = value as? any SystemFieldsStoring else { return value }
        model.systemFields = systemFields
        return model as? T ?? value
    }
}
