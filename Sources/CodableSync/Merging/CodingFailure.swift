import RecordCoding

/// Why a model or a record is not acceptable.
enum CodingFailure: Error, CustomStringConvertible {
    case otherRecordName(expected: String, found: String)
    case asset(field: String)
    case otherZone(field: String, String)
    case tooNew(found: Int, known: Int)
    case strangeSchemaVersion
    case missing
    case renamed(from: String, to: String)
    case notReadBack(String)

    var description: String {
        switch self {
        case .otherRecordName(let expected, let found):
            "The resolver returned a model with the record name \(found.quoted) for \(expected.quoted); "
                + "a conflict cannot rename a record."
        case .asset(let field):
            "The field \(field.quoted) is a file. This database doesn't support assets: "
                + "store the bytes as Data, or leave the field out."
        case .otherZone(let field, let zone):
            "The field \(field.quoted) is a reference with the zone \(zone.quoted). A reference is to a record in its "
                + "own record's zone: leave the zoneID out."
        case .tooNew(let found, let known):
            NewerSchema(found: SchemaVersion(found), known: SchemaVersion(known)).description
        case .strangeSchemaVersion:
            "The field \(ReservedField.schema) holds no version."
        case .missing:
            "The stored contents are missing."
        case .renamed(let former, let name):
            "The edited model has the record name \(name.quoted), the original \(former.quoted): an edit cannot "
                + "rename a record. Upload the new one and delete the former one."
        case .notReadBack(let reason):
            "It could not be read back: \(reason)"
        }
    }
}
