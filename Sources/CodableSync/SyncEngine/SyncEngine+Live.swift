import RecordCoding

/// The calls of ``LiveModels``, and what it waits for.
extension SyncEngine {
    /// Takes a place for a call of a view.
    ///
    /// - Parameters:
    ///   - name: The record's name.
    ///   - isEdit: Whether the call is an edit.
    ///   - session: The core's session whose models the view shows; `nil` if it shows none yet.
    /// - Returns: The place.
    func place(of name: String, isEdit: Bool = false, in session: Int?) -> CallQueue.Ticket {
        core.callQueue.take([name], isEdit: isEdit, at: core.now.wall.rounded, session: session)
    }

    /// Uploads a model in place of the one that a view shows, with a place that was taken before.
    ///
    /// Only the fields that differ from the shown model change, so the call neither misses the view's earlier calls
    /// nor reverts what other devices did in the meantime. A model that carries the change tag of another version
    /// than the shown one is compared with that version.
    func upload(_ model: Model, over shown: Model?, at ticket: CallQueue.Ticket) async throws {
        defer { ticket.end() }
        try await reportingRefusal(of: [model.recordName]) {
            guard let shown, changeTag(of: model) == nil || changeTag(of: model) == changeTag(of: shown)
            else {
                return try await queue([model], ticket)
            }
            var draft = try await encode(model, editedFrom: shown, at: ticket.date)
            draft.ifMissing = .create
            try await core.enqueue([draft], ticket)
        }
    }

    /// Deletes a model, with a place that was taken before.
    func delete(_ model: Model, at ticket: CallQueue.Ticket) async throws {
        try await reportingRefusal(of: [model.recordName]) {
            try await core.delete([model.recordName], ticket)
        }
    }

    /// Returns once the loop over a live stream has received all changes to these records so far, or has ended.
    ///
    /// A stream that has made no request yet has received nothing.
    func waitUntilDelivered(_ names: [String], by stream: StreamID) async {
        let hub = face.hub
        await core.wait { core in
            guard let machine = core.machine else { return true }
            guard machine.serves(stream) else { return !hub.isOpen(stream) }
            return machine.hasTold(names, by: stream)
        }
    }
}
