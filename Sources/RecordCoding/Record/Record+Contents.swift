package import struct Foundation.Date

extension Record {
    /// When the user made the edit; `nil` if the field is absent or holds anything but a date.
    package var editDate: Date? {
        get {
            guard case .date(let date)? = fields[ReservedField.edited] else { return nil }
            return date
        }
        set { fields[ReservedField.edited] = newValue.map(RecordValue.date) }
    }

    /// The schema version that wrote the record: 1 if the field is absent, `nil` if it holds no version.
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

    /// Whether a record of the server holds all that this one names, as far as the server can tell.
    ///
    /// - Parameter server: The record of the server.
    /// - Returns: Whether nothing of this record is missing or different there.
    package func agrees(with server: Record) -> Bool { fields.agrees(with: server.fields) }
}

extension [String: RecordValue] {
    /// The fields to send so that a server which has `known` ends with these.
    ///
    /// Values are compared to the last bit; a null and an absent field are the same. Fields that only the
    /// server has are left alone. Reserved fields alone are no difference, but all of them go along with one.
    ///
    /// - Parameter known: The fields of the last known version on the server.
    /// - Returns: The fields to send, a null clearing one; empty if there is nothing to send.
    package func differences(from known: [String: RecordValue]) -> [String: RecordValue] {
        var differences: [String: RecordValue] = [:]
        for (name, value) in self where !ReservedField.isReserved(name) {
            if !value.isIdentical(to: known[name] ?? .null) { differences[name] = value }
        }
        guard !differences.isEmpty else { return [:] }
        for (name, value) in self where ReservedField.isReserved(name) { differences[name] = value }
        return differences
    }

    /// The names of the fields that differ from others as far as a server can tell, sorted.
    ///
    /// Null, absent and an empty list are the same. Reserved fields do not count.
    ///
    /// - Parameter others: The other fields.
    /// - Returns: The names.
    package func differingFields(from others: [String: RecordValue]) -> [String] {
        Set(keys).union(others.keys).filter { name in
            !ReservedField.isReserved(name) && !isSame(name, in: others)
        }.sorted()
    }

    /// Whether a field is the same in others, as far as a server can tell.
    package func isSame(_ name: String, in others: [String: RecordValue]) -> Bool {
        let (value, other) = (self[name] ?? .null, others[name] ?? .null)
        return value.isNothing ? other.isNothing : value.isIdentical(to: other)
    }

    /// Whether the server holds all that these fields say.
    ///
    /// Null, absent and an empty list are the same, since a server may drop empty lists. Reserved fields and
    /// those that only the server has do not count.
    ///
    /// - Parameter server: The fields of the server.
    /// - Returns: Whether nothing is missing or different there.
    package func agrees(with server: [String: RecordValue]) -> Bool {
        allSatisfy { name, value in
            if ReservedField.isReserved(name) { return true }
            let theirs = server[name] ?? .null
            return value.isNothing ? theirs.isNothing : value.isIdentical(to: theirs)
        }
    }
}
