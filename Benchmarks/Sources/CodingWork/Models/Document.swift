import Foundation
import RecordCoding

/// The large model: a text of 200 KB and a thousand numbers.
package struct Document: RecordCodable, Identifiable, Hashable {
    /// The record's name.
    package let id: UUID
    /// The title.
    package var title: String
    /// A long text.
    package var text: String
    /// Measured values.
    package var samples: [Double]

    /// Merges field by field.
    ///
    /// - Parameter conflict: Both sides and their ancestor.
    /// - Returns: The merged document.
    /// - Throws: If a side cannot be coded.
    package static func resolveConflict(_ conflict: Conflict<Document>) throws -> Document? {
        try conflict.merged()
    }
}

extension Document {
    /// The document that is coded, always the same.
    ///
    /// - Throws: Never; the identifier is valid.
    package static func sample() throws -> Document {
        let paragraph = """
            At dawn the path leaves the last hut, and the café behind it; "slowly", says the guide, and means it.
            Ash and gravel give way under each step, and the lights of the valley fade one after another.

            """
        let count = 200_000 / paragraph.utf8.count + 1
        return Document(
            id: try Sample.id(),
            title: "A night on the mountain",
            text: String(repeating: paragraph, count: count),
            samples: (0..<1000).map { Double($0) * 1.618_033_988_75 - 500 }
        )
    }
}
