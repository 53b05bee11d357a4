import RecordCoding

/// Calls, which take their places before they suspend.
extension SyncCore {
    // MARK: Calls that wait for the cloud

    /// Makes a call that waits for the cloud.
    ///
    /// What fetches only, as for a push, needs none of the calls before it, so it waits for no edit's closure.
    nonisolated func sync(_ parts: SyncParts, waitsForEdits: Bool = true) async throws -> SyncSummary {
        let waits = waitsForEdits && parts.contains(.send)
        let ticket = waits ? callQueue.takeForAllRecords(at: now.wall) : callQueue.take(at: now.wall)
        defer { ticket.end() }
        try Task.checkCancellation()
        return try await sync(parts, ticket)
    }

    private func sync(_ parts: SyncParts, _ ticket: CallQueue.Ticket) async throws -> SyncSummary {
        try await ticket.turn()
        try await ready(forSyncAt: ticket)
        try Task.checkCancellation()
        takeRequests()
        // The engine may have been closed while it was being opened.
        guard machine != nil else { throw SyncError.closed }
        lastCall += 1
        let call = lastCall
        if !parts.contains(.hint) { fetchedVersions[call] = [] }
        defer { fetchedVersions[call] = nil }
        doubtChangedAccount()
        let answer = await withTaskCancellationHandler {
            await self.answer(to: .sync(call, parts), call, ticket)
        } onCancel: {
            Task { [weak self] in await self?.abandon(call) }
        }
        switch answer {
        case .summary(var summary):
            summary.undecodable = await undecodableCount(among: fetchedVersions[call] ?? [])
            return summary
        case .failed(let error):
            // What the sync needed may fail because the files are being closed.
            if case .closed = phase { throw SyncError.closed }
            throw error
        case .done: throw CancellationError()
        }
    }

    /// Ends a cancelled call; the sync itself continues.
    private func abandon(_ call: CallID) {
        guard let continuation = calls.removeValue(forKey: call) else { return }
        continuation.resume(returning: .done)
        process(.calls(.abandoned(call)))
    }

    /// Stops syncing, and deletes the subscription.
    nonisolated func deactivate() async throws {
        let ticket = callQueue.take(at: now.wall)
        defer { ticket.end() }
        await stop()
        try await enter(ticket)
        // The last of the engines that share the subscription deletes it.
        guard await registration?.unsubscribe() != false else { return }
        await doubtChangedAccount()
        try await call(ticket) { .deactivate($0) }
    }

    /// Has the account looked up before the next request if it has changed without a signal.
    private func doubtChangedAccount() {
        if database.accountGeneration != accountGeneration { process(.signal(.accountChanged)) }
    }

    // MARK: Calls that are answered by the disk

    nonisolated func resync() async throws {
        let ticket = callQueue.take(at: now.wall)
        defer { ticket.end() }
        try await call(at: ticket) { .resync($0) }
    }

    nonisolated func resolvePurge(_ answer: PurgeAnswer) async throws {
        let ticket = callQueue.takeForAllRecords(at: now.wall)
        defer { ticket.end() }
        try await call(at: ticket) { .resolvePurge($0, uploadAgain: answer == .uploadAgain) }
    }

    nonisolated func delete(_ recordNames: [String]) async throws {
        try await delete(recordNames, callQueue.take(recordNames, at: now.wall.rounded))
    }

    nonisolated func delete(_ recordNames: [String], _ ticket: CallQueue.Ticket) async throws {
        defer { ticket.end() }
        try Task.checkCancellation()
        if recordNames.isEmpty { return }
        try checkNames(recordNames)
        let type = ExactName(model.recordType)
        let changes = unique(recordNames).map {
            NewChange(name: $0, recordType: type, kind: .delete, edited: ticket.date)
        }
        try await call(at: ticket) { .enqueue($0, changes) }
    }

    nonisolated func retry(_ recordNames: [String]) async throws {
        let ticket = callQueue.take(recordNames, at: now.wall.rounded)
        defer { ticket.end() }
        try await call(at: ticket) { .retry($0, names: recordNames) }
    }

    nonisolated func discard(_ recordNames: [String]) async throws {
        let ticket = callQueue.take(recordNames, at: now.wall.rounded)
        defer { ticket.end() }
        try await call(at: ticket) { .discard($0, names: recordNames) }
    }

    nonisolated func checkNames(_ names: [String]) throws {
        var invalid: [SyncError.InvalidModel] = []
        for name in names {
            do {
                try RecordLimits.checkRecordName(name)
            } catch {
                invalid.append(SyncError.InvalidModel(recordName: name, reason: "\(error)"))
            }
        }
        if !invalid.isEmpty { throw try refusal(of: invalid) }
    }

    /// Returns the error for invalid models, or throws if the configuration itself is wrong.
    nonisolated func refusal(of invalid: [SyncError.InvalidModel]) throws -> SyncError {
        try checkConfiguration()
        return .invalidModels(invalid)
    }

    private nonisolated func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    // MARK: Parts

    /// Waits for a call's turn, opens the state if necessary, and processes the streams' requests that are due.
    ///
    /// - Throws: ``SyncError``: the reason why the state cannot be used, or `userChanged` if the call is about
    ///   another user's models.
    func enter(_ ticket: CallQueue.Ticket) async throws {
        try await ticket.turn()
        try await ready(for: ticket)
        if let session = ticket.session, session != self.session {
            throw SyncError(.userChanged, recordNames: ticket.names.map(\.text))
        }
        takeRequests()
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
        let answer = await answer(to: input(call), call, contents: contents, ticket)
        if case .failed(let error) = answer { throw error }
    }

    private func answer(
        to input: CallInput,
        _ call: CallID,
        contents: [ContentHandle: Record] = [:],
        _ ticket: CallQueue.Ticket
    ) async -> CallAnswer {
        await withCheckedContinuation { continuation in
            calls[call] = continuation
            ticket.end()
            // The turn ends at once if no other call waits that could share its write.
            process(.calls(input), contents: contents, endsTurn: callQueue.isEmpty)
        }
    }
}
