import Foundation
import RecordCoding

/// The small model: three fields.
package struct Reminder: RecordCodable, Identifiable, Hashable {
    /// The record's name.
    package let id: UUID
    /// What to do.
    package var title: String
    /// Whether it is done.
    package var isDone: Bool

    /// Merges field by field.
    ///
    /// - Parameter conflict: Both sides and their ancestor.
    /// - Returns: The merged reminder.
    /// - Throws: If a side cannot be coded.
    package static func resolveConflict(_ conflict: Conflict<Reminder>) throws -> Reminder? {
        try conflict.merged()
    }
}

extension Reminder {
    /// The reminder that is coded, always the same.
    ///
    /// - Throws: Never; the identifier is valid.
    package static func sample() throws -> Reminder {
        Reminder(id: try Sample.id(), title: "Buy stamps for the postcards", isDone: false)
    }
}
