import CodableSync
import Foundation
import Observation

// begin engine
/// The app's engines: one for each model, for as long as the app runs.
enum Sync {
    static let notes = SyncEngine<Note>(database: .local)
}
// end engine

// begin store
/// What the views show; it lives as long as the app.
@MainActor @Observable
final class NoteStore {
    private(set) var notes: [String: Note] = [:]
    /// A message for the user; a view shows and clears it.
    var message: String?
    /// The user's last edit, for undo.
    private(set) var lastEdit: ModelEdit<Note>?
    private let engine: SyncEngine<Note>
    private var reading: Task<Void, Never>?

    init(engine: SyncEngine<Note>) {
        self.engine = engine
    }

    /// Follows the engine until the task is cancelled: `.task { await store.run() }` at the app's first view.
    func run() async {
        let events = engine.events
        var loop = Task { await follow() }
        for await event in events {
            if let text = text(for: event) { message = text }
            // Another user is signed in, or nobody is: the former user's notes are no longer shown.
            guard case .accountChanged = event else { continue }
            loop.cancel()
            await loop.value
            loop = Task { await follow() }
        }
        loop.cancel()
    }

    /// Shows what is here, then what becomes of it.
    private func follow() async {
        await show()
        for await change in engine.changes {
            switch change {
            case .updated(let changed), .saved(let changed): await show(changed.map(\.id))
            case .deleted(let names): await show(names)
            }
        }
    }

    /// Shows notes as the engine has them: the named ones, or all.
    ///
    /// One read at a time, so that no older value overwrites a newer one.
    private func show(_ names: [String]? = nil) async {
        let former = reading
        let task = Task {
            await former?.value
            do {
                let found: [Note]
                if let names {
                    found = try await engine.models(named: names)
                } else {
                    found = try await engine.allModels()
                }
                let shown = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
                guard let names else { return notes = shown }
                for name in names { notes[name] = shown[name] }
            } catch {
                message = error.localizedDescription
            }
        }
        reading = task
        await task.value
    }
}
// end store

// begin edit
extension NoteStore {
    /// Edits a note in place: the newest version, whatever the screen shows.
    func edit(_ note: Note, _ change: (inout Note) -> Void) async {
        await perform(on: note) { lastEdit = try await engine.edit(note, change) }
    }

    /// Changes a note, shows the result, and tells the user if the change was refused.
    private func perform(on note: Note, _ call: () async throws -> Void) async {
        lastEdit = nil
        do { try await call() } catch { message = error.localizedDescription }
        await show([note.id])
    }
}
// end edit

// begin add
extension NoteStore {
    func add(_ note: Note) async {
        await perform(on: note) { try await engine.upload(note) }
    }

    func delete(_ note: Note) async {
        await perform(on: note) { try await engine.delete(note) }
    }
}
// end add

// begin draft
extension NoteStore {
    /// Saves what the user has changed in a sheet since it was opened.
    func save(_ draft: Note, editedFrom original: Note) async {
        await perform(on: draft) { try await engine.upload(draft, editedFrom: original) }
    }
}
// end draft

// begin undo
extension NoteStore {
    /// Reverts the last edit and nothing else: what others have changed since stays.
    func undo() async {
        guard let edit = lastEdit, notes[edit.before.id] != nil else { return }
        await perform(on: edit.before) { try await engine.upload(edit.before, editedFrom: edit.after) }
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
            "Your change to “\(notes[name]?.title ?? name)” could not be saved to the cloud, and was set aside."
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
        try await engine.pendingChanges().filter { $0.parkReason != nil }
    }

    /// Puts the user's text into the cloud's version of the note.
    func keepText(of change: PendingChange<Note>) async {
        guard let mine = change.client else { return }
        await edit(mine) { $0.text = mine.text }
    }

    /// Discards the user's change.
    func giveUp(_ change: PendingChange<Note>) async throws {
        try await engine.discard(named: [change.recordName])
    }
}
// end parked
