import RecordCoding

/// The model's side of a core, which itself is not generic.
extension ChangeHub: SyncedModel {
    var type: any RecordCodable.Type { Model.self }
    var recordType: String { coding.recordType }
    var schemaVersion: Int { coding.schemaVersion }
    var encryptedFields: [String] { coding.encryptedFields }

    func check(_ record: Record) throws { try coding.check(record) }

    func shownFields(of record: Record) throws -> [String: RecordValue] {
        try coding.shownFields(of: record)
    }

    func reconcile(_ contents: ConflictContents) -> (Reconciliation, wasAsked: Bool) {
        coding.reconcile(contents)
    }

    func element(
        _ items: [DeliveryItem],
        over below: [ContentHandle: ContentHandle],
        from contents: StoredContents,
        for stream: StreamID
    ) -> any StreamElement {
        ModelElement(items, over: below, from: contents, for: stream, of: self)
    }

    func element(_ mark: StreamMark, for stream: StreamID, _ session: Int) -> any StreamElement {
        ModelElement(mark, for: stream, session, of: self)
    }
}
