import RecordCoding

import struct Foundation.Date

/// Converts models to records and back, with the engine's own fields and the checks that an upload must pass.
struct ModelCoding<Model: RecordCodable>: Sendable {
    var zoneID: ZoneID
    var writesEditDates: Bool

    /// Why a model or a record is not acceptable.
    enum Failure: Error, CustomStringConvertible {
        case otherRecordName(expected: String, found: String)
        case asset(field: String)
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
                "The field \(field.quoted) is a file. This database does not carry assets: "
                    + "store the bytes as Data, or leave the field out."
            case .tooNew(let found, let known):
                "The record was written with schema version \(found), this app knows \(known); update the app."
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

    /// Makes a record from a model and its edit date.
    func encode(_ model: Model, named name: String? = nil, edited: Date?) throws -> Record {
        var record = try RecordEncoder().encode(model, zoneID: zoneID)
        if let name, !record.recordID.recordName.isIdentical(to: name) {
            throw Failure.otherRecordName(expected: name, found: record.recordID.recordName)
        }
        for field in record.fields.keys.sorted() where record.fields[field]?.holdsAsset == true {
            throw Failure.asset(field: field)
        }
        if writesEditDates, let edited {
            record.fields[ReservedField.edited] = .date(edited)
        }
        if Model.schemaVersion > 1 {
            record.fields[ReservedField.schema] = .int64(Int64(Model.schemaVersion))
        }
        try RecordLimits.checkSize(of: record)
        return record
    }

    /// Encodes a model for an upload, and throws if the record cannot be decoded again.
    func encodeReadably(_ model: Model, edited: Date?) throws -> Record {
        let record = try encode(model, edited: edited)
        do {
            _ = try decode(record)
        } catch {
            throw Failure.notReadBack(describe(error))
        }
        return record
    }

    func decode(_ record: Record) throws -> Model {
        guard let version = record.schemaVersion else { throw Failure.strangeSchemaVersion }
        if version > Model.schemaVersion {
            throw Failure.tooNew(found: version, known: Model.schemaVersion)
        }
        let model = try RecordDecoder().decode(Model.self, from: record)
        guard model.recordName.isIdentical(to: record.recordID.recordName) else {
            throw Failure.otherRecordName(expected: record.recordID.recordName, found: model.recordName)
        }
        return model
    }
}

extension RecordValue {
    fileprivate var holdsAsset: Bool {
        switch self {
        case .asset: true
        case .list(let values): values.contains { if case .asset = $0 { true } else { false } }
        default: false
        }
    }
}
