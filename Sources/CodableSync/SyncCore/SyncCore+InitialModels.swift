import RecordCoding

/// What is left to queue of the models that the app had before its first sync.
struct InitialUpload: Sendable {
    /// The last record name of the parts that are queued; `nil` if none are.
    var last: ExactName?
    /// The opened state; parts for it must not get into another user's.
    fileprivate var session: Int
}

/// Whether the models that the app had before its first sync are to be queued for the user.
enum InitialUploadStage: Sendable {
    case left(InitialUpload)
    /// All are queued.
    case complete
    /// They are for another user, whose state is not open.
    case ofAnotherUser
}

/// Queueing the models that the app had before its first sync.
extension SyncCore {
    /// Opens the state if necessary, and returns what is left to queue for its user.
    ///
    /// - Parameter forEachUser: Whether every user gets the models, not only the first one.
    /// - Returns: What is left, or why there is nothing to do.
    /// - Throws: ``SyncError``; `CancellationError`.
    nonisolated func beginInitialUpload(forEachUser: Bool) async throws -> InitialUploadStage {
        let ticket = callQueue.take(at: now.wall)
        defer { ticket.end() }
        try Task.checkCancellation()
        return try await beginInitialUpload(forEachUser, ticket)
    }

    private func beginInitialUpload(
        _ forEachUser: Bool,
        _ ticket: CallQueue.Ticket
    ) async throws -> InitialUploadStage {
        try await enter(ticket)
        guard let machine, let place else { throw SyncError.closed }
        guard forEachUser || place.isFirstUsers else { return .ofAnotherUser }
        let queued = machine.state.summary.initialModels(of: ExactName(model.recordType))
        if let queued, queued.last == nil {
            // The last part may be of a call that is not stored yet.
            try await call(ticket) { .enqueue($0, []) }
            return .complete
        }
        return .left(InitialUpload(last: queued?.last, session: session))
    }

    /// Queues a part, unless the state is another user's by now.
    ///
    /// - Parameters:
    ///   - part: The part, in the order of the names.
    ///   - last: The last name of the part; `nil` if no part follows.
    ///   - upload: What was left to queue when the upload began.
    /// - Returns: Whether the state is still the same.
    /// - Throws: ``SyncError``; the part is not queued.
    nonisolated func enqueue(
        _ part: [Draft],
        through last: ExactName?,
        of upload: InitialUpload
    ) async throws -> Bool {
        let ticket = callQueue.take(part.map(\.record.recordID.recordName), at: now.wall.rounded)
        defer { ticket.end() }
        return try await enqueue(part, through: last, of: upload, ticket)
    }

    private func enqueue(
        _ part: [Draft],
        through last: ExactName?,
        of upload: InitialUpload,
        _ ticket: CallQueue.Ticket
    ) async throws -> Bool {
        try await enter(ticket)
        guard session == upload.session else { return false }
        var contents: [ContentHandle: Record] = [:]
        let changes = part.map { draft in
            var change = NewChange(saving: draft.record, as: stage(draft.record, &contents), edited: nil)
            change.isInitial = true
            return change
        }
        let models = InitialModels(ExactName(model.recordType), through: last)
        try await call(contents: contents, ticket) { .enqueue($0, changes, partOf: models) }
        return true
    }
}
