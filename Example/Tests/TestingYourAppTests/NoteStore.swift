import CodableSync
import Foundation
import Observation

// begin engine
/// The app's engines: one for each model, as long as the app runs.
enum Sync {
    static let notes = SyncEngine<Note>(database: .local)
}
// end engine

// begin store
/// What the views show; it lives as long as the app.
@MainActor @Observable
final class NoteStore {
    private(set) var notes: [String: Note] = [:]
    /// What the user must be told; a view shows it, and clears it.
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
            // Another user is here, or nobody: what the former one had is no longer shown.
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

    /// Shows notes as the engine has them: these, or all.
    ///
    /// One read at a time, so that no older value covers a newer one.
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
    /// Changes a note in place: on the newest version, whatever the screen shows.
    func edit(_ note: Note, _ change: (inout Note) -> Void) async {
        await perform(on: note) { lastEdit = try await engine.edit(note, change) }
    }

    /// Makes a change of a note, shows what has become of it, and tells the user if it was refused.
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
    /// Keeps what the user has changed in a sheet since it was opened.
    func save(_ draft: Note, editedFrom original: Note) async {
        await perform(on: draft) { try await engine.upload(draft, editedFrom: original) }
    }
}
// end draft

// begin undo
extension NoteStore {
    /// Takes the last edit back, and nothing else: what others have changed since stays.
    func undo() async {
        guard let edit = lastEdit, notes[edit.before.id] != nil else { return }
        await perform(on: edit.before) { try await engine.upload(edit.before, editedFrom: edit.after) }
    }
}
// end undo

// begin told
extension NoteStore {
    /// What the user must be told although the app goes on.
    func text(for event: SyncEvent) -> String? {
        switch event {
        case .undecodable:
            "A note cannot be read by this version of the app, and is kept as it is. Update the app to see it."
        case .editOfDeleted(_, let record, kept: false):
            "“\(title(of: record))” was deleted on another device, and your edit of it with it."
        case .discarded(_, let record, .deletion):
            "“\(title(of: record))” was deleted here while another device edited it."
        case .parked(let name, _):
            "Your change of “\(notes[name]?.title ?? name)” could not be made in the cloud, and was set aside."
        case .discarded(_, let record, .replaced):
            "Your new edit of “\(title(of: record))” has taken the place of the one that was set aside."
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
    /// What was set aside: both sides, for a screen on which the user decides.
    func parked() async throws -> [ParkedChange<Note>] {
        try await engine.parkedChanges()
    }

    /// Puts the user's text into the note as the cloud has it.
    func keepText(of change: ParkedChange<Note>) async {
        guard let mine = change.client else { return }
        await edit(mine) { $0.text = mine.text }
    }

    /// Gives the user's change up.
    func giveUp(_ change: ParkedChange<Note>) async throws {
        try await engine.discard([change.recordName])
    }
}
// end parked
