import Foundation
import RecordCoding

extension Work {
    /// The landmark with the server's system fields in it.
    static func systemFields() throws -> [Work] {
        let model = try StoredLandmark.sample()
        var record = try RecordEncoder().encode(model)
        record.systemFields = .sample
        let stored = record
        let line = RecordJSON.encode(stored)
        let encoder = RecordEncoder()
        let decoder = RecordDecoder()
        return [
            Work("landmark", "encode", by: .withSystemFields) { try encoder.encode(model) },
            Work("landmark", "decode", by: .withSystemFields) {
                try decoder.decode(StoredLandmark.self, from: stored)
            },
            Work("landmark", "write-line", by: .withSystemFields) { RecordJSON.encode(stored) },
            Work("landmark", "read-line", by: .withSystemFields) { try RecordJSON.decode(line) },
        ]
    }

    /// The check that a record is not too large.
    static func sizeChecks() throws -> [Work] {
        let encoder = RecordEncoder()
        let records = [
            ("reminder", try encoder.encode(Reminder.sample())),
            ("landmark", try encoder.encode(FlatLandmark.sample())),
            ("document", try encoder.encode(Document.sample())),
        ]
        return records.map { subject, record in
            Work(subject, "check-size", by: .codableSync) { try RecordLimits.checkSize(of: record) }
        }
    }

    /// Conflicts in which each side has changed another field.
    static func merges() throws -> [Work] {
        let ancestor = try FlatLandmark.sample()
        var client = ancestor
        client.note = "The last hut has warm tea."
        var server = ancestor
        server.visits = 4
        let (mine, theirs) = (client, server)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let full = Conflict(
            client: mine,
            server: theirs,
            ancestor: ancestor,
            clientEdited: now,
            serverEdited: now - 60
        )
        let twoSided = Conflict(
            client: mine,
            server: theirs,
            ancestor: nil,
            clientEdited: now,
            serverEdited: now - 60
        )
        return [
            Work("landmark", "merge", by: .codableSync) { try full.merged() },
            Work("landmark", "merge", by: .withoutAncestor) { try twoSided.merged() },
        ]
    }
}

extension Contender {
    /// This package, with system fields.
    package static let withSystemFields = Contender("CodableSync-with-system-fields")
    /// This package, where the ancestor of a conflict is not known.
    package static let withoutAncestor = Contender("CodableSync-without-ancestor")
}
