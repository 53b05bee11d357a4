import CodableSync

// begin model
/// What the app stores: concurrent edits of the text are both kept, whatever the clocks say.
struct Note: RecordCodable, Identifiable, Equatable {
    let id: String
    var title: String
    var text = ""
    var isPinned = false

    static func resolveConflict(_ conflict: Conflict<Note>) throws -> Note? {
        var note = try conflict.merged()
        let (mine, theirs, before) = (conflict.client.text, conflict.server.text, conflict.ancestor?.text)
        if mine != theirs, mine != before, theirs != before {
            note.text = [mine, theirs].sorted().joined(separator: "\n")
        }
        return note
    }
}
// end model
