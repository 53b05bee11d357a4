/// Why a value cannot be encoded as a record, or a record cannot be decoded.
///
/// Every `EncodingError` and `DecodingError` that this module throws has one as its underlying error. Values
/// are shortened to 80 characters, with control characters escaped. The ``message`` says what is wrong, where and
/// why, and what to do; the reasons themselves are not public, since they change with the rules.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RecordCodingError: Error, Hashable, Sendable {
    /// A name violates the rule for its kind of name.
    @_spi(Reasons) case invalidName(kind: NameKind, name: String, fault: NameFault)
    /// Several field names of a model violate the rule for field names.
    @_spi(Reasons) case invalidFieldNames([String: NameFault])
    /// A model returned two different record names.
    @_spi(Reasons) case unstableRecordName(first: String, second: String)
    /// A record contains a model with another record name.
    @_spi(Reasons) case recordNameMismatch(recordName: String, modelName: String)
    /// The value does not encode as one keyed container, or mixes containers of different kinds.
    @_spi(Reasons) case unsupportedShape(field: String, reason: String)
    /// The value is nested deeper than the limit, or refers to itself.
    @_spi(Reasons) case tooDeep(field: String, limit: Int)
    /// A number is not finite.
    @_spi(Reasons) case nonFiniteNumber(field: String, value: String)
    /// An integer does not fit into 64 bits.
    @_spi(Reasons) case integerOutOfRange(field: String, value: String)
    /// A date is outside the years 1 to 9999.
    @_spi(Reasons) case dateOutOfRange(field: String, value: String)
    /// A number cannot be written without losing digits.
    @_spi(Reasons) case precisionLoss(field: String, value: String)
    /// A URL cannot be recreated from its own text.
    @_spi(Reasons) case invalidURL(field: String, value: String)
    /// A file URL or asset is inside a nested value; only a top-level field can be an asset.
    @_spi(Reasons) case nestedFile(field: String)
    /// A list mixes kinds, or contains a null or another list.
    @_spi(Reasons) case mixedList(field: String)
    /// ``RecordCodable/encryptedFields`` names a field that the model does not have.
    @_spi(Reasons) case unknownEncryptedField(field: String, model: String)
    /// A field of ``RecordCodable/encryptedFields`` is a reference, which CloudKit cannot encrypt, or an asset,
    /// which it always encrypts.
    @_spi(Reasons) case unencryptableField(field: String, kind: String)
    /// The record is too large for a database.
    @_spi(Reasons) case tooLarge(recordName: String, size: Int, limit: Int, largestFields: [FieldSize])
    /// A field that the model needs is missing.
    @_spi(Reasons) case missingField(field: String)
    /// A field that the model needs is missing, and the model's ``FieldDefaulting/fieldDefaults`` have no
    /// value for it, or cannot be encoded.
    @_spi(Reasons) case unusableDefaults(field: String, reason: String)
    /// The kind of a field's value differs from that of the model's property.
    @_spi(Reasons) case unexpectedKind(field: String, expected: String, found: String)
    /// A field's value is of the right kind, but the property's type cannot represent it.
    @_spi(Reasons) case valueOutOfRange(field: String, expected: String, value: String)
    /// The text isn't JSON, or isn't of the expected form.
    @_spi(Reasons) case malformedJSON(field: String, reason: String)
    /// A field's type cannot be described in a schema.
    @_spi(Reasons) case invalidSchema(field: String, reason: String)
    /// The blob doesn't contain system fields, or this version can't read it.
    @_spi(Reasons) case unreadableSystemFields(reason: String)

    /// The kinds of names.
    @_spi(Reasons) public enum NameKind: String, Hashable, Sendable {
        /// The name of a record.
        case recordName = "record name"
        /// The type of a record.
        case recordType = "record type"
        /// The name of a field.
        case fieldName = "field name"
        /// The name of a zone.
        case zoneName = "zone name"
        /// The name of a zone's owner.
        case ownerName = "owner name"
    }

    /// What is wrong with a name.
    @_spi(Reasons) public enum NameFault: Hashable, Sendable {
        /// The name is empty.
        case empty
        /// The name has more than 255 characters.
        case tooLong(length: Int)
        /// The name has characters outside ASCII.
        case notASCII
        /// The name starts with an underscore, which CloudKit reserves.
        case startsWithUnderscore
        /// The name does not start with a letter.
        case startsWithoutLetter
        /// The name has characters that its kind of name must not have: control characters in the name of a record
        /// or zone, others than letters, digits and underscores in that of a type or field.
        case illegalCharacter
        /// CloudKit or this library reserves the name.
        case reserved
    }

    /// A field and its share of a record's size.
    @_spi(Reasons) public struct FieldSize: Hashable, Sendable {
        /// The field's name.
        public var name: String
        /// The field's size in bytes.
        public var size: Int

        /// Creates the size of a field.
        ///
        /// - Parameters:
        ///   - name: The field's name.
        ///   - size: The field's size in bytes.
        public init(name: String, size: Int) {
            self.name = name
            self.size = size
        }
    }
}
