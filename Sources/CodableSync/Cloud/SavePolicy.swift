/// What a save does when the server's version is not the one that the client knows.
///
/// CloudKit's rule (`CKModifyRecordsOperation.RecordSavePolicy`).
public enum SavePolicy: String, Hashable, Sendable, Codable {
    /// Saves only over the version that the record's change tag names; else it is a conflict.
    case ifServerRecordUnchanged
    /// Writes the fields that are given, whatever the server's version.
    case changedKeys
    /// Writes all local fields, whatever the server's version; fields only on the server stay.
    case allKeys
}
