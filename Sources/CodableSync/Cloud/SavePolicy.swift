/// What a save does if the server's version is not the one that the client knows.
///
/// CloudKit's rule (`CKModifyRecordsOperation.RecordSavePolicy`).
public enum SavePolicy: String, Hashable, Sendable, Codable {
    /// Saves only over the version with the record's change tag; otherwise the save fails as a conflict.
    case ifServerRecordUnchanged
    /// Writes the given fields, whatever the server's version.
    case changedKeys
    /// Writes all local fields, whatever the server's version; fields that exist only on the server stay.
    case allKeys
}
