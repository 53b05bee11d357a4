import RecordCoding

/// Calls that wait for the cloud.
extension SyncEngine {
    /// Sends and fetches, and returns when both are done.
    ///
    /// Returns when everything that was queued before the call has been tried, and a fetch that began after
    /// the call has ended. Concurrent calls share requests. The call ends the engine's own waits after
    /// failures, but not a wait that the server ordered. You can call it from a loop over ``changes``, and
    /// from a task that a resolver starts.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``: `waiting` during a wait that the server ordered, `stopped`,
    ///   `waitingForDecision`, or `cloud` if a request failed; `CancellationError` if the task is cancelled.
    @discardableResult
    public nonisolated func sync() async throws -> SyncSummary {
        try await sync([.fetch, .send])
    }

    /// Sends queued changes, and returns when all have been tried.
    ///
    /// Use this when the app is about to be suspended. It fetches nothing, and ends the engine's wait after a
    /// failure.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``, as ``sync()`` does.
    @discardableResult
    public nonisolated func sendChanges() async throws -> SyncSummary {
        try await sync(.send)
    }

    /// Fetches changes, and returns when a fetch that began after the call has ended.
    ///
    /// Conflicts found by the fetch are resolved before the call returns, except for records that are being
    /// sent at that moment.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``, as ``sync()`` does.
    @discardableResult
    public nonisolated func fetchChanges() async throws -> SyncSummary {
        try await sync(.fetch)
    }

    /// Requests a full fetch and keeps local data; records that no longer exist are then delivered as
    /// `.deleted`.
    ///
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func resync() async throws {
        let ticket = callQueue.take(at: now.wall)
        defer { ticket.end() }
        try await call(at: ticket) { .resync($0) }
    }

    /// Decides what happens to the app's data after the user removed it from the cloud.
    ///
    /// If no decision is pending, for example because another call has made it, the call has no effect.
    ///
    /// - Parameter answer: Whether to upload the data again or to remove it from this device as well.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func resolvePurge(_ answer: PurgeAnswer) async throws {
        let ticket = callQueue.take(at: now.wall)
        defer { ticket.end() }
        try await call(at: ticket) { .resolvePurge($0, uploadAgain: answer == .uploadAgain) }
    }

    // MARK: Parts

    nonisolated func sync(_ parts: SyncParts) async throws -> SyncSummary {
        let ticket = callQueue.take(at: now.wall)
        defer { ticket.end() }
        try Task.checkCancellation()
        return try await sync(parts, ticket)
    }

    private func sync(_ parts: SyncParts, _ ticket: CallQueue.Ticket) async throws -> SyncSummary {
        try await ticket.turn()
        try await ready(forSyncAt: ticket)
        takeNotes()
        // The engine may have been closed while it was being opened.
        guard machine != nil else { throw SyncError.closed }
        lastCall += 1
        let call = lastCall
        if !parts.contains(.hint) { fetchedVersions[call] = [] }
        defer { fetchedVersions[call] = nil }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                calls[call] = continuation
                if database.accountGeneration != accountGeneration { process(.signal(.accountChanged)) }
                process(.calls(.sync(call, parts)))
                ticket.end()
                if Task.isCancelled { abandon(call) }
            }
        } onCancel: {
            Task { [weak self] in await self?.abandon(call) }
        }
        switch answer {
        case .summary(var summary):
            summary.undecodable = await undecodableCount(among: fetchedVersions[call] ?? [])
            return summary
        case .failed(let error): throw error
        case .done: throw CancellationError()
        }
    }

    /// Ends a cancelled call; the sync itself continues.
    private func abandon(_ call: CallID) {
        guard let continuation = calls.removeValue(forKey: call) else { return }
        continuation.resume(returning: .done)
        process(.calls(.abandoned(call)))
    }

    /// Waits for a call's turn, opens the state if necessary, and processes the notes that are due.
    ///
    /// - Throws: ``SyncError``: the reason why the state cannot be used.
    func enter(_ ticket: CallQueue.Ticket) async throws {
        try await ticket.turn()
        try await ready(for: ticket)
        takeNotes()
    }

    /// Passes the notes that are due to the machine.
    func takeNotes() {
        guard machine != nil else { return }
        for note in callQueue.takeNotes() {
            switch note {
            case .read(let session, let generation, let given):
                guard session == self.session, generation == machine?.readGeneration else { break }
                process(.calls(.read(given)))
            case .request(let stream, _):
                if hub.claim(stream) { process(.delivery(.streamRequested(stream))) }
            }
        }
    }

    /// Waits for a call's turn, passes its input to the machine, and waits for the answer.
    func call(at ticket: CallQueue.Ticket, _ input: @Sendable (CallID) -> CallInput) async throws {
        try await enter(ticket)
        try await call(ticket, input)
    }

    /// Passes a call's input to the machine, ends its ticket, and waits for the answer.
    func call(
        contents: [ContentHandle: Record] = [:],
        _ ticket: CallQueue.Ticket,
        _ input: (CallID) -> CallInput
    ) async throws {
        guard machine != nil else { throw SyncError.closed }
        lastCall += 1
        let call = lastCall
        let input = input(call)
        let answer = await withCheckedContinuation { continuation in
            calls[call] = continuation
            process(.calls(input), contents: contents)
            ticket.end()
        }
        if case .failed(let error) = answer { throw error }
    }
}
