extension ZoneChanges: CustomStringConvertible {
    /// The counts of the page: `2 changed, 1 deleted, more coming`; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        let counts = "\(modifications.count) changed, \(deletions.count) deleted"
        return moreComing ? counts + ", more coming" : counts
    }
}

extension DatabaseChanges: CustomStringConvertible {
    /// The zones of the page: `changed "Note"; "Trip" deleted; more coming`.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        var parts = deletions.map(\.description)
        if !modifications.isEmpty {
            parts.insert("changed " + modifications.map(\.zoneName.quoted).joined(separator: ", "), at: 0)
        }
        if moreComing { parts.append("more coming") }
        return parts.isEmpty ? "no changes" : parts.joined(separator: "; ")
    }
}

extension ZoneChanges.Deletion: CustomStringConvertible {
    /// The record that was deleted: `Note "A1" deleted`.
    public var description: String { "\(recordType) \(recordID.recordName.quoted) deleted" }
}

extension DatabaseChanges.Deletion: CustomStringConvertible {
    /// The zone and the reason: `"Note" purged by the user`.
    public var description: String { "\(zoneID) \(reason)" }
}

extension DatabaseChanges.Deletion.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .deleted: "deleted"
        case .purged: "purged by the user"
        case .encryptedDataReset: "lost in a reset of encrypted data"
        }
    }
}

extension CloudSignal: CustomStringConvertible {
    /// The signal in a few words.
    public var description: String {
        switch self {
        case .changes(let zones?): "changes in " + zones.map(\.zoneName.quoted).joined(separator: ", ")
        case .changes(nil): "changes"
        case .accountChanged: "account changed"
        case .reachable: "network reachable"
        }
    }
}
