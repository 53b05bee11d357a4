import Foundation
import RecordCoding

extension Document: WrittenByHand {
    /// The record that the coder makes.
    package var recordByHand: Record {
        let name = id.textByHand
        return Record(
            recordType: "Document",
            recordID: RecordID(recordName: name),
            fields: [
                "id": .string(name),
                "title": .string(title),
                "text": .string(text),
                "samples": .list(samples.map { .double($0) }),
            ]
        )
    }

    /// Reads the fields of a record.
    ///
    /// - Parameter record: The record.
    /// - Throws: If a field is missing or of another kind.
    package init(byHand record: Record) throws {
        let fields = FieldsByHand(fields: record.fields)
        id = try fields.unwrap(UUID(textByHand: fields.string("id")), "id")
        title = try fields.string("title")
        text = try fields.string("text")
        samples = try fields.list("samples").map { value in
            guard case .double(let double) = value else { throw UnexpectedField(name: "samples") }
            return double
        }
    }
}
