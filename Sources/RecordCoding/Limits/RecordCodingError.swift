/// Why a value cannot become a record, or a record a value.
///
/// It is the underlying error of every `EncodingError` and `DecodingError` that this module throws, beside
/// the coding path. Values are shown abbreviated to 80 characters, with control characters escaped.
public enum RecordCodingError: Error, Hashable, Sendable {
    /// A name breaks the rule for names of its kind.
    case invalidName(kind: NameKind, name: String, fault: NameFault)
    /// A model gave two record names when it was asked twice.
    case unstableRecordName(first: String, second: String)
    /// A record holds a model that has another record name.
    case recordNameMismatch(recordName: String, modelName: String)
    /// The value is not encoded as one keyed container, or mixes containers of different kinds.
    case unsupportedShape(field: String, reason: String)
    /// The value is nested deeper than the limit, or refers to itself.
    case tooDeep(field: String, limit: Int)
    /// A number is not finite.
    case nonFiniteNumber(field: String, value: String)
    /// An integer does not fit into 64 bits.
    case integerOutOfRange(field: String, value: String)
    /// A date is outside the years 1 to 9999.
    case dateOutOfRange(field: String, value: String)
    /// A number cannot be written without losing digits.
    case precisionLoss(field: String, value: String)
    /// A URL does not read back from its own text.
    case invalidURL(field: String, value: String)
    /// A file URL or asset is inside a nested value; only a field of its own can be an asset.
    case nestedFile(field: String)
    /// The elements of a list are not all of one kind, or a list holds a null or a list.
    case mixedList(field: String)
    /// The record is larger than a database takes.
    case tooLarge(recordName: String, size: Int, limit: Int, largestFields: [FieldSize])
    /// A field that the model needs is not there.
    case missingField(field: String)
    /// A field holds a value of another kind than the model's.
    case unexpectedKind(field: String, expected: String, found: String)
    /// A field holds a value of the right kind that the model's type cannot hold.
    case valueOutOfRange(field: String, expected: String, value: String)
    /// A text that should be JSON is not, or not of the expected form.
    case malformedJSON(field: String, reason: String)
    /// A blob holds no system fields that this version can read.
    case unreadableSystemFields(reason: String)

    /// What a name names.
    public enum NameKind: String, Hashable, Sendable {
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
    public enum NameFault: Hashable, Sendable {
        /// It has no characters.
        case empty
        /// It has more characters than 255.
        case tooLong(length: Int)
        /// It has characters outside ASCII.
        case notASCII
        /// It begins with an underscore, which CloudKit reserves.
        case startsWithUnderscore
        /// It does not begin with a letter.
        case startsWithoutLetter
        /// It has characters other than letters, digits and underscores.
        case illegalCharacter
        /// CloudKit or this library uses it for itself.
        case reserved
    }

    /// A field and its share of a record's size.
    public struct FieldSize: Hashable, Sendable {
        /// The field's name.
        public var name: String
        /// Its bytes.
        public var size: Int

        /// Makes the size of a field.
        ///
        /// - Parameters:
        ///   - name: The field's name.
        ///   - size: Its bytes.
        public init(name: String, size: Int) {
            self.name = name
            self.size = size
        }
    }
}
