import RecordCoding

/// Reading what became of a record.
extension SyncEngine {
    /// Reads one model, or why there is none.
    ///
    /// ```swift
    /// switch try await engine.presence(named: id) {
    /// case .here(let note): show(note)
    /// case .undecodable: show("Update the app to see this note.")
    /// default: dismiss()
    /// }
    /// ```
    ///
    /// The model counts as given to the app, as that of ``model(named:)`` does.
    ///
    /// - Parameter name: The record's name.
    /// - Returns: What this device knows about the record.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func presence(named name: String) async throws -> RecordPresence<Model> {
        let read = try await readPresence(of: name)
        if let note = read.note { callQueue.note(note) }
        return read.presence
    }

    private func readPresence(
        of name: String
    ) async throws -> (presence: RecordPresence<Model>, note: CallQueue.Note?) {
        try await inOneSession {
            takeNotes()
            let read = try await modelsShown(for: [name])
            guard let state = machine?.state else { throw SyncError.closed }
            if let model = read.models.first { return (.here(model), read.note) }
            if state.shownHandle(of: name) != nil { return (.undecodable, read.note) }
            return (state.isDeleted(name) ? .deleted : .unknown, read.note)
        }
    }
}
