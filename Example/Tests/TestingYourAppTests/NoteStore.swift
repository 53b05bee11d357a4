import CodableSync
import Foundation
import Observation

// begin engine
/// The app's engines: one for each model, for as long as the app runs.
enum Sync {
    static let notes = SyncEngine<Note>()
}
// end engine

// begin store
/// What the views show; it lives as long as the app.
@MainActor @Observable
final class NoteStore {
    /// The notes: they follow the engine, and edits show at once.
    let notes: LiveModels<Note>
    /// A message for the user; a view shows and clears it.
    var message: String?
    /// What the user has saved last, for undo.
    private(set) var lastSave: (before: Note, after: Note)?

    init(engine: SyncEngine<Note>) {
        notes = LiveModels(engine)
    }

    /// Collects messages until the task is cancelled: `.task { await store.run() }` at the app's first view.
    func run() async {
        for await event in notes.engine.events {
            if let text = text(for: event) { message = text }
        }
    }
}
// end store

// begin draft
extension NoteStore {
    /// Saves what the user has changed in a sheet since it was opened.
    func save(_ draft: Note, editedFrom original: Note) async {
        lastSave = nil
        do {
            try await notes.engine.upload(draft, editedFrom: original)
            lastSave = (original, draft)
        } catch {
            message = error.localizedDescription
            print("The note \(draft.id) was not saved: \(error)")
        }
    }
}
// end draft

// begin undo
extension NoteStore {
    /// Reverts what was saved last and nothing else: what others have changed since stays.
    func undo() async {
        guard let (before, after) = lastSave, notes.models[before.id] != nil else { return }
        await save(before, editedFrom: after)
        lastSave = nil
    }
}
// end undo

// begin told
extension NoteStore {
    /// The message for an event that the user must know about.
    func text(for event: SyncEvent) -> String? {
        switch event {
        case .undecodable:
            "A note cannot be read by this version of the app, and is kept as it is. Update the app to see it."
        case .editOfDeleted(_, let record, kept: false):
            "“\(title(of: record))” was deleted on another device, along with your edit."
        case .discarded(_, let record, .deletion):
            "“\(title(of: record))” was deleted here while another device edited it."
        case .parked(let name, _):
            "Your change to “\(notes.models[name]?.title ?? name)” could not be saved to the cloud, and was set aside."
        case .discarded(_, let record, .replaced):
            "Your new edit of “\(title(of: record))” replaced the one that was set aside."
        default:
            nil
        }
    }

    private func title(of record: Record) -> String {
        if case .string(let title)? = record.fields["title"] { title } else { record.recordID.recordName }
    }
}
// end told

// begin parked
extension NoteStore {
    /// The changes that were set aside, with both sides, for a screen where the user decides.
    func parked() async throws -> [PendingChange<Note>] {
        try await notes.engine.pendingChanges().filter { $0.parkReason != nil }
    }

    /// Puts the user's text into the cloud's version of the note.
    func keepText(of change: PendingChange<Note>) {
        guard let mine = change.client else { return }
        notes.edit(mine) { $0.text = mine.text }
    }

    /// Discards the user's change.
    func giveUp(_ change: PendingChange<Note>) async throws {
        try await notes.engine.discard(named: [change.recordName])
    }
}
// end parked
