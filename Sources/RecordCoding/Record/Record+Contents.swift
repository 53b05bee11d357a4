package import struct Foundation.Date

extension Record {
    /// When the user made the edit; `nil` if the field is absent or is not a date.
    package var editDate: Date? {
        get {
            guard case .date(let date)? = fields[ReservedField.edited] else { return nil }
            return date
        }
        set { fields[ReservedField.edited] = newValue.map(RecordValue.date) }
    }

    /// The schema version that wrote the record; 1 if the field is absent, `nil` if it is not a version.
    package var schemaVersion: Int? {
        get {
            guard let value = fields[ReservedField.schema], value != .null else { return 1 }
            guard case .int64(let version) = value, version >= 1 else { return nil }
            return Int(exactly: version)
        }
        set {
            let version = newValue ?? 1
            fields[ReservedField.schema] = version > 1 ? .int64(Int64(version)) : nil
        }
    }

    /// Whether the server's record has all fields of this one, with values that are equal for the server.
    ///
    /// - Parameter server: The server's record.
    /// - Returns: Whether no field of this record is missing or different there.
    package func agrees(with server: Record) -> Bool { fields.agrees(with: server.fields) }
}

extension [String: RecordValue] {
    /// The fields to send so that a server that has `known` gets these fields.
    ///
    /// Values are compared bit by bit; null, absent and an empty list are equal. Fields that only the server has
    /// stay unchanged. Reserved fields alone do not count as a difference, but are all sent along with one.
    ///
    /// - Parameter known: The fields of the last known version on the server.
    /// - Returns: The fields to send, in which a null clears a field, also for an empty list; empty if there is
    ///   nothing to send.
    package func differences(from known: [String: RecordValue]) -> [String: RecordValue] {
        var differences: [String: RecordValue] = [:]
        for (name, value) in self where !ReservedField.isReserved(name) {
            if !isSame(name, in: known) { differences[name] = value.isNothing ? .null : value }
        }
        guard !differences.isEmpty else { return [:] }
        for (name, value) in self where ReservedField.isReserved(name) { differences[name] = value }
        return differences
    }

    /// The sorted names of the fields that differ from others for a server.
    ///
    /// Null, absent and an empty list are equal. Reserved fields do not count.
    ///
    /// - Parameter others: The other fields.
    /// - Returns: The names.
    package func differingFields(from others: [String: RecordValue]) -> [String] {
        Set(keys).union(others.keys).filter { name in
            !ReservedField.isReserved(name) && !isSame(name, in: others)
        }.sorted()
    }

    /// Whether a field has an equal value in others, as far as a server can distinguish values.
    package func isSame(_ name: String, in others: [String: RecordValue]) -> Bool {
        (self[name] ?? .null).isSame(as: others[name] ?? .null)
    }

    /// Whether the server has all of these fields.
    ///
    /// Null, absent and an empty list are equal, since a server may drop empty lists. Reserved fields and
    /// fields that only the server has do not count.
    ///
    /// - Parameter server: The server's fields.
    /// - Returns: Whether no field is missing or different there.
    package func agrees(with server: [String: RecordValue]) -> Bool {
        allSatisfy { name, value in
            ReservedField.isReserved(name) || value.isSame(as: server[name] ?? .null)
        }
    }
}
