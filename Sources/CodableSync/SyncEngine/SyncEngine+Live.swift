import RecordCoding

import struct Foundation.Date

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
    /// The fields change that differ from the shown model or from a later edit of this device. So the call neither
    /// leaves out an earlier call nor reverts what other devices did in the meantime. A model that carries the
    /// change tag of another version than the shown one is compared with that version.
    func upload(_ model: Model, over shown: Model?, at ticket: CallQueue.Ticket) async throws {
        defer { ticket.end() }
        try await reportingRefusal(of: [model.recordName]) {
            try await queue(model, over: shown, ticket)
        }
    }

    @concurrent
    private func queue(_ model: Model, over shown: Model?, _ ticket: CallQueue.Ticket) async throws {
        var draft = try replacement(of: shown, by: model, at: ticket.date)
        draft.ifMissing = .create
        draft.countsOwnEdits = true
        try await core.enqueue([draft], ticket)
    }

    private func replacement(of shown: Model?, by model: Model, at date: Date) throws -> Draft {
        let tag = changeTag(of: model)
        if let shown, tag == nil || tag == changeTag(of: shown) {
            return try encode(model, editedFrom: shown, at: date)
        }
        var draft = try encode(model, editedFrom: nil, at: date)
        draft.original = original(of: model)
        return draft
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
        let hub = hub
        await core.wait { core in
            guard let machine = core.machine else { return true }
            guard machine.serves(stream) else { return !hub.isOpen(stream) }
            return machine.hasTold(names, by: stream)
        }
    }
}
