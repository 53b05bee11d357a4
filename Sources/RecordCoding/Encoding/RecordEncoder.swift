/// Encodes values as records: each key of the top level becomes one field.
///
/// The static type of a property determines the kind of its field:
///
/// | Swift | Field |
/// |---|---|
/// | `String`, `UUID`, `URL` of the web, enum of strings | string |
/// | `Bool` (0 or 1), integers of every width, enum of integers | int64 |
/// | `Double`, `Float` | double |
/// | `Date` | date, rounded to the millisecond |
/// | `Data` | bytes |
/// | ``RecordReference``, ``RecordLocation`` | reference, location |
/// | `URL` of a file, ``RecordAsset`` | asset |
/// | type that codes itself as one of these in a single-value container, such as a typed ID | that value |
/// | array of one of these | list, even if empty; an engine saves an empty list as no field |
/// | optional of one of these | its kind, or null, which clears the field |
/// | everything else | bytes: JSON as `JSONEncoder` writes it by default, with sorted keys and sorted sets |
///
/// A type that codes itself as one value is stored as that value if its `init(from:)` decodes exactly one of
/// these types. If it encodes another type, the encoder converts the value, by way of JSON, to the type that
/// it decodes: a type that decodes a `Date` is stored as a date, even if it encodes the date's number. All
/// other types are stored as bytes, as are arrays of them. Arrays of a type that has no raw value and can be
/// decoded without any value are bytes, too: the type may encode a null, and a list has no nulls.
///
/// To find out what a type decodes, encoders and decoders run its `init(from:)` a few times per process, with
/// a decoder that has no values and throws a `DecodingError` for each request. They do so for the types of
/// top-level properties, including the types that optionals wrap and arrays contain, but not for types that
/// occur only inside nested values. Such an `init(from:)` must not trap on the error or repeat a request
/// until it succeeds.
///
/// Equal values give equal records in every process. Containers sort the sets and dictionaries that they
/// encode; one that encodes itself, by `set.encode(to: encoder)`, is not sorted. If a key is encoded twice,
/// the last value wins. A value must not use its encoder and containers after its `encode(to:)` has returned;
/// this is an error. The encoder refuses values that it can't store without loss: NaN and infinities,
/// integers outside `Int64`, dates outside the years 1 to 9999, and file URLs inside nested values.
public struct RecordEncoder: Sendable {
    /// Creates an encoder.
    public init() {}

    /// Encodes any value whose top level is a keyed container.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - recordType: The record type.
    ///   - recordID: The record's name and zone.
    /// - Returns: The record, without system fields; every `nil` optional is a null.
    /// - Throws: `EncodingError` with the coding path and an underlying ``RecordCodingError``; any error that
    ///   the value's own `encode(to:)` throws, unchanged.
    public func encode<T: Encodable>(_ value: T, recordType: String, recordID: RecordID) throws -> Record {
        let contents = try contents(of: value, recordType, recordID)
        return Record.new(recordType, recordID, contents.fields)
    }

    /// Encodes a model under its own record name and type.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - zoneID: The zone of the record.
    /// - Returns: The record, without system fields, with the names of the fields to encrypt; every `nil`
    ///   optional is a null.
    /// - Throws: The errors of ``encode(_:recordType:recordID:)``, also if the record name isn't the text of a
    ///   field and a second read of it differs, or if ``RecordCodable/encryptedFields`` names something that
    ///   isn't a field or can't be encrypted.
    public func encode<M: RecordCodable>(_ model: M, zoneID: ZoneID = .default) throws -> Record {
        let recordID = RecordID(recordName: model.recordName, zoneID: zoneID)
        let recordType = M.recordType
        let contents = try contents(of: model, recordType, recordID)
        // Most names are those of an ID, which is a field, and reading one may take as long as several fields.
        if !contents.hasName { try checkName(of: model, is: recordID.recordName) }
        var record = Record.new(recordType, recordID, contents.fields)
        let encryptedFields = M.encryptedFields
        if !encryptedFields.isEmpty {
            record.encryptedFields = try checked(encryptedFields, of: model, in: record)
        }
        return record
    }

    private func checkName(of model: some RecordCodable, is name: String) throws {
        let secondName = model.recordName
        guard secondName.isIdentical(to: name) else {
            throw CodingPlace([]).encodingError(
                model,
                .unstableRecordName(first: name.abbreviated, second: secondName.abbreviated)
            )
        }
    }

    /// The contents of a record whose names and size are valid.
    private func contents<T: Encodable>(
        of value: T,
        _ recordType: String,
        _ recordID: RecordID
    ) throws -> RecordContents {
        do throws(RecordCodingError) {
            try RecordLimits.checkRecordName(recordID.recordName)
            try RecordLimits.check(recordID.zoneID)
            try RecordLimits.checkRecordType(recordType)
        } catch {
            throw CodingPlace([]).encodingError(value, error)
        }
        let contents = try FieldEncoder.contents(of: value, named: recordID.recordName)
        do throws(RecordCodingError) {
            try RecordLimits.checkSize(contents.size, of: contents.fields, recordID.recordName)
        } catch {
            throw CodingPlace([]).encodingError(value, error)
        }
        return contents
    }

    /// The names of the fields to encrypt, each of which must be that of a field that can be encrypted.
    private func checked<M: RecordCodable>(
        _ names: [String],
        of model: M,
        in record: Record
    ) throws -> Set<String> {
        let absent = names.filter { record.fields[$0] == nil }
        let omitted = absent.isEmpty ? [] : try SchemaEncoder.omittedKeys(of: model, among: absent)
        do throws(RecordCodingError) {
            for name in names {
                if let value = record.fields[name] {
                    try RecordLimits.checkEncryptable(value.elementKind, of: name)
                } else if !omitted.contains(name) {
                    throw .unknownEncryptedField(field: name.abbreviated, model: "\(M.self)".abbreviated)
                }
            }
        } catch {
            throw CodingPlace([]).encodingError(model, error)
        }
        return Set(names)
    }
}
