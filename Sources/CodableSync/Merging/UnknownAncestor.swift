import RecordCoding

/// Both sides of a conflict whose ancestor is unknown.
struct UnknownAncestor {
    var client: Record
    var server: Record
    /// The fields of both sides as the model shows them, so that a side whose record lacks a field has its
    /// default value.
    var shownClient: [String: RecordValue]
    var shownServer: [String: RecordValue]
    /// The model's values for fields that a record lacks.
    var defaults: [String: RecordValue]
    var isClientLater: Bool

    /// An ancestor for which ``Conflict/merged(preferring:)`` decides each field as it does without one.
    var undecided: Record {
        var record = client
        for name in Set(client.fields.keys).union(server.fields.keys) where !ReservedField.isReserved(name) {
            record.fields[name] = (yields(name) ? client : server).fields[name] ?? .null
        }
        return record
    }

    /// Whether this device's value of a field yields to the cloud's.
    private func yields(_ name: String) -> Bool {
        let (mine, theirs) = (shownClient[name] ?? .null, shownServer[name] ?? .null)
        if mine.isNothing { return true }
        if theirs.isNothing { return false }
        if let standIn = defaults[name] {
            if mine.isIdentical(to: standIn) { return true }
            if theirs.isIdentical(to: standIn) { return false }
        }
        return !isClientLater
    }
}
