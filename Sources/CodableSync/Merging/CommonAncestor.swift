import RecordCoding

/// A save by this device whose response was lost: the contents, and the version that they were based on.
struct LostWrite: Sendable {
    var handle: ContentHandle
    var record: Record
    /// `nil` if the request was to create the record.
    var base: Record?
}

/// Finds the common ancestor of a conflict when responses to this device's own saves were lost.
///
/// If the server has the value of a field that this device sent, no other device has changed the field since,
/// so the sent value is the field's ancestor. Without this rule, an older edit of this device would look like
/// another device's change and could win over the newer edit.
enum CommonAncestor {
    /// Returns the ancestor for a merge.
    ///
    /// - Parameters:
    ///   - ancestor: The version on which the edit was based; `nil` if there was none.
    ///   - server: The record in the cloud.
    ///   - lost: The saves whose responses were lost, oldest first.
    ///   - unknown: Both sides, which are needed only if there is no ancestor.
    /// - Returns: The given ancestor, with the values that the server has from the lost saves.
    static func reconstruct(
        from ancestor: Record?,
        server: Record,
        lost: [LostWrite],
        unknown: () throws -> UnknownAncestor
    ) rethrows -> Record? {
        var own: [String: RecordValue] = [:]
        for write in lost {
            for (name, value) in write.record.fields where write.arrived(value, of: name, in: server) {
                own[name] = value
            }
        }
        if own.isEmpty { return ancestor }
        var result = try ancestor ?? unknown().undecided
        result.fields.merge(own) { $1 }
        return result
    }
}

extension LostWrite {
    /// Whether this save set the field on the server.
    fileprivate func arrived(_ value: RecordValue, of name: String, in server: Record) -> Bool {
        guard !ReservedField.isReserved(name), value.isSame(as: server.value(name)) else { return false }
        // Two devices may create the same record with some equal fields, so a creation proves nothing.
        guard let base else { return false }
        return !value.isSame(as: base.value(name))
    }
}

extension Record {
    fileprivate func value(_ name: String) -> RecordValue { fields[name] ?? .null }
}
