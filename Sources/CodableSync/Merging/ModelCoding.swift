import RecordCoding

import struct Foundation.Date

/// Converts models to records and back, with the engine's own fields and the checks that an upload must pass.
struct ModelCoding<Model: RecordCodable>: ModelRules {
    var zoneID: ZoneID
    var writesEditDates: Bool

    /// Encodes a record from a model and its edit date.
    func encode(_ model: Model, named name: String? = nil, edited: Date?) throws -> Record {
        var record = try RecordEncoder().encode(model, zoneID: zoneID)
        // Each request has the model's names; stored ones are the cloud's, so that a mistake here can be corrected.
        if !record.encryptedFields.isEmpty { record.encryptedFields = [] }
        if let name, !record.recordID.recordName.isIdentical(to: name) {
            throw CodingFailure.otherRecordName(expected: name, found: record.recordID.recordName)
        }
        if let field = record.fields.lazy.filter(\.value.holdsAsset).map(\.key).min() {
            throw CodingFailure.asset(field: field)
        }
        if writesEditDates, let edited {
            record.fields[ReservedField.edited] = .date(edited)
        }
        let version = Model.schemaVersion
        if version > 1 {
            record.fields[ReservedField.schema] = .int64(Int64(version))
        }
        try RecordLimits.checkSize(of: record)
        return record
    }

    /// Encodes a model for an upload, and throws if the record cannot be decoded again.
    func encodeReadably(_ model: Model, edited: Date?) throws -> Record {
        let record = try encode(model, edited: edited)
        try checkReferences(record.fields)
        try checkReadable(record)
        return record
    }

    /// Encodes an edited model for an upload, with the stored values of fields that the edit does not change.
    ///
    /// - Parameters:
    ///   - model: The edited model.
    ///   - before: The model before the edit.
    ///   - stored: The fields of the record that the model before the edit was decoded from.
    ///   - edited: The date of the edit.
    /// - Returns: The record; `nil` if the edit changes nothing.
    /// - Throws: An error if the record is invalid or cannot be decoded again.
    func encodeEdit(
        _ model: Model,
        of before: Model,
        over stored: [String: RecordValue],
        edited: Date?
    ) throws -> Record? {
        var record = try encode(model, edited: edited)
        let shown = try encode(before, edited: edited).fields
        let changed = record.fields.differingFields(from: shown)
        if changed.isEmpty { return nil }
        try checkReferences(record.fields.filter { changed.contains($0.key) })
        record.fields.merge(record.fields.unchanged(from: stored, shownAs: shown)) { $1 }
        try RecordLimits.checkSize(of: record)
        try checkReadable(record)
        return record
    }

    /// Checks that no reference names a zone.
    ///
    /// A reference stays in the zone of its record: a cloud refuses any other zone, and does not return this one.
    func checkReferences(_ fields: [String: RecordValue]) throws {
        for field in fields.keys.sorted() {
            guard let zone = fields[field]?.targetZone else { continue }
            throw CodingFailure.otherZone(field: field, zone.zoneName)
        }
    }

    /// Checks that a record can be decoded as it is stored here, and as it is saved: without empty lists.
    private func checkReadable(_ record: Record) throws {
        do {
            _ = try decode(record)
            guard record.fields.values.contains(where: \.isEmptyList) else { return }
            var saved = record
            saved.fields = record.fields.filter { !$0.value.isEmptyList }
            _ = try decode(saved)
        } catch {
            throw CodingFailure.notReadBack(describe(error))
        }
    }

    func decode(_ record: Record) throws -> Model {
        guard let version = record.schemaVersion else { throw CodingFailure.strangeSchemaVersion }
        if version > Model.schemaVersion {
            throw CodingFailure.tooNew(found: version, known: Model.schemaVersion)
        }
        // The decoder refuses a model with another name.
        return try RecordDecoder().decode(Model.self, from: record)
    }
}

extension ModelCoding {
    var recordType: String { Model.recordType }

    var schemaVersion: Int { Model.schemaVersion }

    var encryptedFields: [String] { Model.encryptedFields }

    func check(_ record: Record) throws {
        _ = try decode(record)
    }

    func shownFields(of record: Record) throws -> [String: RecordValue] {
        try encode(try decode(record), edited: nil).fields
    }

    func reconcile(_ contents: ConflictContents) -> (Reconciliation, wasAsked: Bool) {
        Reconciler(coding: self).reconcile(contents)
    }
}

extension RecordValue {
    fileprivate var isEmptyList: Bool { if case .list(let values) = self { values.isEmpty } else { false } }

    fileprivate var holdsAsset: Bool {
        switch self {
        case .asset: true
        case .list(let values): values.contains { if case .asset = $0 { true } else { false } }
        default: false
        }
    }

    /// The zone that a reference names, or one in a list.
    fileprivate var targetZone: ZoneID? {
        switch self {
        case .reference(let reference): reference.zoneID
        case .list(let values): values.lazy.compactMap(\.targetZone).first
        default: nil
        }
    }
}
