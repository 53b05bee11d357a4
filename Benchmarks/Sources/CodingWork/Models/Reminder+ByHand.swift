import Foundation
import RecordCoding

extension Reminder: WrittenByHand {
    /// The record that the coder makes.
    package var recordByHand: Record {
        let name = id.textByHand
        return Record(
            recordType: "Reminder",
            recordID: RecordID(recordName: name),
            fields: ["id": .string(name), "title": .string(title), "isDone": .int64(isDone ? 1 : 0)]
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
        isDone = try fields.int("isDone") != 0
    }
}
