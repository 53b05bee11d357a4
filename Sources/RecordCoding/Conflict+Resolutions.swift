/// Which side of a conflict wins if both sides changed the same field.
public enum ConflictPreference: Hashable, Sendable {
    /// The side that was edited later; if the dates are equal, the server's.
    case latestEdit
    /// This device's side.
    case client
    /// The cloud's side.
    case server
}

extension Conflict {
    /// The whole model that was edited later; if the dates are equal, the server's, so that all devices
    /// agree.
    ///
    /// This depends on the devices' clocks, so a wrong clock can discard a whole edit. With an ancestor,
    /// ``merged(preferring:)`` depends on the clocks only for fields that both sides changed.
    public var latestEdit: Model { prefersClient(.latestEdit) ? client : server }

    /// Merges both edits field by field.
    ///
    /// With an ancestor, a field that one side changed gets that side's value; a field that both changed gets
    /// the preferred side's. Without an ancestor, a field that is null, absent or an empty list on one side
    /// gets the other side's value, and so does one that has its ``FieldDefaulting`` value; any other
    /// difference gets the preferred side's. With `latestEdit`, the devices' clocks then decide each of these
    /// differences. A nested value counts as one field.
    ///
    /// - Parameter preference: The side that wins if both changed a field.
    /// - Returns: The merged model.
    /// - Throws: `EncodingError` or `DecodingError` if a side cannot be coded as a record.
    public func merged(preferring preference: ConflictPreference = .latestEdit) throws -> Model {
        let encoder = RecordEncoder()
        var record = try encoder.encode(client)
        let merge = FieldMerge(
            client: record.fields,
            ancestor: try ancestor.map { try encoder.encode($0).fields },
            defaults: try ancestor == nil ? Model.defaultFields() : [:],
            prefersClient: prefersClient(preference),
            older: preference == .latestEdit ? olderFields : []
        )
        record.fields = try encoder.encode(server).fields
        merge.merge(into: &record.fields)
        return try RecordDecoder().decode(
            Model.self,
            ModelFacts.of(Model.self),
            from: record,
            systemFields: (server as? any SystemFieldsStoring)?.systemFields
        )
    }

    private func prefersClient(_ preference: ConflictPreference) -> Bool {
        switch preference {
        case .latestEdit: clientEdited > serverEdited
        case .client: true
        case .server: false
        }
    }
}

/// A three-way merge of fields.
private struct FieldMerge {
    let client: [String: RecordValue]
    let ancestor: [String: RecordValue]?
    let defaults: [String: RecordValue]
    let prefersClient: Bool
    /// The client's fields that do not count as edited later.
    let older: Set<String>

    /// Merges into the server's fields, each decided separately.
    func merge(into server: inout [String: RecordValue]) {
        var changes: [(name: String, value: RecordValue)] = []
        var common = 0
        // The fields of both sides are nearly always in the same order in memory; then no name is hashed.
        var next = server.makeIterator()
        for (name, mine) in client {
            let pair = next.next()
            let theirs = pair?.key == name ? pair?.value : server[name]
            if theirs != nil { common += 1 }
            // Most fields did not change.
            if let theirs, mine.isIdentical(to: theirs) { continue }
            changes.append((name, value(of: name, mine, theirs ?? .null)))
        }
        if common < server.count {
            for (name, theirs) in server where client[name] == nil {
                changes.append((name, value(of: name, .null, theirs)))
            }
        }
        for (name, value) in changes { server[name] = value }
    }

    private func value(of name: String, _ mine: RecordValue, _ theirs: RecordValue) -> RecordValue {
        let preferred = prefersClient && !older.contains(name) ? mine : theirs
        // Null, absent and an empty list are equal, since an empty list is stored as no field.
        if mine.isSame(as: theirs) { return theirs }
        if let ancestor {
            let common = ancestor[name] ?? .null
            if mine.isSame(as: common) { return theirs }
            return theirs.isSame(as: common) ? mine : preferred
        }
        if mine.isNothing { return theirs }
        if theirs.isNothing { return mine }
        // The record of a side with a default may lack the field.
        guard let standIn = defaults[name] else { return preferred }
        if mine.isIdentical(to: standIn) { return theirs }
        return theirs.isIdentical(to: standIn) ? mine : preferred
    }
}
