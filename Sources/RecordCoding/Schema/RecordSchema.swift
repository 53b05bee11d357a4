import struct Foundation.URL

/// A model's record type and its fields, as in a database's schema.
///
/// CloudKit's development environment learns the schema from saved records, so it misses fields that are
/// still `nil`. Print the schema in CloudKit's language instead, check the text in, and import it:
///
/// ```swift
/// let landmarks = try RecordSchema(of: Landmark.sample)
/// print(RecordSchema.text(for: [landmarks]))      // for `xcrun cktool import-schema`
/// ```
public struct RecordSchema: Hashable, Sendable {
    /// The type of a field.
    package struct Field: Hashable, Sendable {
        /// The kind of the value, or of a list's elements; neither `list` nor `null`.
        package let kind: RecordValue.Kind
        /// Whether the field holds a list.
        package let isList: Bool
        /// Whether the field is encrypted.
        package internal(set) var isEncrypted = false
    }

    /// The record type.
    package let recordType: String
    /// The fields by name, including those that the engine adds.
    package let fields: [String: Field]

    /// Describes the record type of a model.
    ///
    /// The static types of the properties determine the kinds, as in ``RecordEncoder``, so the sample's
    /// values don't matter and can be `nil` or empty. The exception is a URL: a file URL is an asset, which
    /// an engine does not upload, any other a string.
    ///
    /// Fields in ``RecordCodable/encryptedFields`` are encrypted.
    ///
    /// - Parameter sample: Any model. A key that its `encode(to:)` omits is missing from the schema.
    /// - Throws: `EncodingError` with an underlying ``RecordCodingError`` if the model cannot be encoded as a
    ///   record, if it holds a file URL, if it calls `encodeNil`, or if an encrypted field does not exist or cannot be encrypted; any
    ///   error that the model's own `encode(to:)` throws, unchanged.
    public init<Model: RecordCodable>(of sample: Model) throws {
        do throws(RecordCodingError) {
            try RecordLimits.checkRecordType(Model.recordType)
        } catch {
            throw CodingPlace([]).encodingError(sample, error)
        }
        var fields = try SchemaEncoder.fields(of: sample)
        do throws(RecordCodingError) {
            if let file = fields.keys.sorted().first(where: { fields[$0]?.kind == .asset }) {
                let reason = "a file is an asset, which no engine uploads; store its bytes as Data"
                throw .invalidSchema(field: file, reason: reason)
            }
            for name in Model.encryptedFields {
                guard let kind = fields[name]?.kind else {
                    throw .unknownEncryptedField(field: name.abbreviated, model: "\(Model.self)".abbreviated)
                }
                try RecordLimits.checkEncryptable(kind, of: name)
                fields[name]?.isEncrypted = true
            }
        } catch {
            throw CodingPlace([]).encodingError(sample, error)
        }
        fields[ReservedField.edited] = Field(kind: .date, isList: false)
        if Model.schemaVersion > 1 { fields[ReservedField.schema] = Field(kind: .int64, isList: false) }
        recordType = Model.recordType
        self.fields = fields
    }
}

extension RecordSchema.Field {
    /// The type of the fields that hold values of a type.
    init(type: Any.Type) {
        switch TypeKind.field(of: type) {
        case .value(let value), .single(let value): self.init(kind: value.fieldKind, isList: false)
        case .values(let element): self.init(kind: element.fieldKind, isList: true)
        case .singles:
            let element = (type as? any ArrayType.Type)?.element
            self.init(kind: element.map { Self(type: $0).kind } ?? .bytes, isList: true)
        case .optional: self = (type as? any OptionalType.Type).map { Self(type: $0.wrapped) } ?? .json
        case .json: self = .json
        }
    }

    /// The type of the field that holds a value.
    init<Value>(holding value: Value) {
        let value: Any? = (value as? any OptionalEncodable).map(\.wrapped) ?? value
        let url = value as? URL ?? (value as? [URL])?.first
        let type = Self(type: Value.self)
        self = url?.isFileURL == true ? Self(kind: .asset, isList: type.isList) : type
    }

    static var json: Self { Self(kind: .bytes, isList: false) }
}
