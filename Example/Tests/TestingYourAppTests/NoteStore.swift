import CodableSync
import Foundation
import Observation

// begin store
/// What the views show; it lives as long as the app.
@MainActor @Observable
final class NoteStore {
    private(set) var notes: [String: Note] = [:]
    private let engine: SyncEngine<Note>

    init(engine: SyncEngine<Note>) {
        self.engine = engine
    }

    /// Follows the engine until the task is cancelled: `.task { await store.run() }` at the app's first view.
    func run() async {
        let events = engine.events
        var loop = Task { await follow() }
        // Another user is here, or nobody: what the former one had is no longer shown.
        for await case .accountChanged in events {
            loop.cancel()
            await loop.value
            loop = Task { await follow() }
        }
        loop.cancel()
    }

    /// Shows what is here, then what becomes of it.
    private func follow() async {
        do {
            notes = Dictionary(uniqueKeysWithValues: try await engine.allModels().map { ($0.id, $0) })
        } catch {
            print("The notes cannot be read: \(error.localizedDescription)")
        }
        for await change in engine.changes {
            switch change {
            case .updated(let changed), .saved(let changed): for note in changed { notes[note.id] = note }
            case .deleted(let names): for name in names { notes[name] = nil }
            }
        }
    }
    // end store

    // begin edit
    /// Changes a note: what the user did, made on the newest version.
    func edit(_ id: String, _ change: (inout Note) -> Void) async throws {
        guard var note = try await engine.model(named: id) else { return }
        change(&note)
        // Shown first, so that nothing that comes meanwhile is covered by it.
        notes[id] = note
        do {
            try await engine.upload(note)
        } catch {
            notes[id] = try await engine.model(named: id)
            throw error
        }
    }
    // end edit
}
