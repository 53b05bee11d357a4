/// Ending a core.
extension SyncCore {
    /// How long closing waits for the calls before it: the closure of an edit may wait for an actor that the app
    /// blocks while it ends.
    static var patience: Duration { .seconds(5) }

    /// Stores the calls before this one, and releases the directory.
    nonisolated func close() async {
        let place = callQueue.refuseLaterCalls(with: SyncError.closed, at: now.wall)
        if !callQueue.isEmpty { await waitForCalls(before: place) }
        await endStored()
    }

    /// Waits until the calls before a place have ended, for a limited time.
    private nonisolated func waitForCalls(before place: CallQueue.Ticket) async {
        let (clock, queue) = (clock, callQueue)
        let limit = clock.now.monotonic + Self.patience
        let timer = Task {
            try await clock.sleep(until: limit)
            queue.fail(with: SyncError.closed)
        }
        defer { timer.cancel() }
        do {
            try await place.turn()
        } catch {
            // The calls throw this error themselves, or the closing task is cancelled and waits no longer.
        }
    }

    private func endStored() async {
        await end { core in
            // Edits that are queued for the disk are stored, and their calls return.
            await core.storeLastTurn()
            await core.files?.close()
        }
    }

    /// Ends the core as a crash of its process would.
    func simulateCrash() async {
        dropTurn()
        await end { core in
            core.machine = nil
            core.resources.endAll()
            await core.files?.close()
        }
    }

    /// Ends the core once; later calls wait for the first.
    private func end(_ letGo: @escaping @Sendable (isolated SyncCore) async -> Void) async {
        if let closing { return await closing.value }
        let opening = phase
        phase = .closed
        publish()
        notifyWatchers()
        let task = Task { await end(opening, letGo) }
        closing = task
        await task.value
    }

    private func end(
        _ opening: Phase,
        _ letGo: @Sendable (isolated SyncCore) async -> Void
    ) async {
        callQueue.fail(with: SyncError.closed)
        takeRequests()
        switch opening {
        case .opening(let task), .switching(let task): _ = await task.result
        case .new, .open, .closed: break
        }
        await letGo(self)
        resources.keep(nil)
        resources.endAll()
        files = nil
        machine = nil
        place = nil
        registration?.leave()
        registration = nil
        for (_, call) in calls.sorted(by: { $0.key < $1.key }) { call.resume(returning: .failed(.closed)) }
        calls = [:]
        currentStatus = .stopped
        dismissWatchers()
    }
}
