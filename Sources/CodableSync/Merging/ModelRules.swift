import RecordCoding

/// What a core must know about one model: how its records are read and merged, without the model's type.
protocol ModelRules: Sendable {
    var recordType: String { get }
    var schemaVersion: Int { get }
    /// The names of the fields to store encrypted.
    var encryptedFields: [String] { get }

    /// Throws if a record cannot be decoded.
    func check(_ record: Record) throws

    /// The fields of a record as this version of the app encodes them: a field that the record lacks has its
    /// default value, and fields that the model does not know are left out.
    ///
    /// - Throws: An error if the record cannot be decoded.
    func shownFields(of record: Record) throws -> [String: RecordValue]

    /// Reconciles an edit with the cloud's latest version; asks the model's resolver if there is a conflict.
    func reconcile(_ contents: ConflictContents) -> (Reconciliation, wasAsked: Bool)
}
