/// Waiting until an engine has nothing left to do, for tests.
extension SyncEngine {
    /// Returns once the engine has nothing to do at this time: for tests.
    ///
    /// Nothing is then being requested, stored, decoded, resolved or handed out, no signal of the database is on its
    /// way, and no timer is due. What waits for a time, for the app or for the network is not waited for: advance the
    /// clock, take from ``changes`` or let the network return, and call it again.
    ///
    /// ```swift
    /// try await phone.upload(note)
    /// await phone.waitUntilIdle()                      // it was sent
    /// clock.advance(by: .seconds(300))
    /// await phone.waitUntilIdle()                      // the poll is over
    /// ```
    ///
    /// A request that a ``FakeHold`` holds, or that is never answered, counts as nothing to do. The engine is not opened
    /// by it, and one that is closed is idle. It returns early if the task is cancelled.
    public func waitUntilIdle() async {
        let signals = database as? any SignalTelling
        repeat {
            await signals?.waitUntilSignalsAreTaken()
            await wait { $0.isIdle }
        } while signals?.areSignalsTaken == false && !Task.isCancelled
    }

    /// Whether there is nothing to do at this time, but for signals that the database has not handed over yet.
    var isIdle: Bool {
        switch phase {
        case .opening, .switching: return false
        case .closed: return true
        case .new, .open: break
        }
        guard hub.isServed, resources.isAtRest(at: clock.now.monotonic) else { return false }
        return journal.map { $0.mark == journalRest } ?? true
    }

    /// Returns once something is true of the engine; it is looked at whenever the engine's state has changed.
    ///
    /// - Parameter condition: What is waited for.
    /// - Returns: Whether it came true; not if the task was cancelled, or the engine closed, before it did.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (isolated SyncEngine) -> Bool) async -> Bool {
        if condition(self) { return true }
        lastWatcher += 1
        let id = lastWatcher
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || isClosed {
                    continuation.resume(returning: false)
                } else {
                    watchers.append(EngineWatcher(id: id, condition: condition, continuation: continuation))
                }
            }
        } onCancel: {
            Task { [weak self] in await self?.dismissWatcher(id) }
        }
    }

    private var isClosed: Bool {
        if case .closed = phase { closing == nil || machine == nil } else { false }
    }

    /// Lets those go on for whom it has come true what they wait for.
    func tellWatchers() {
        if watchers.isEmpty { return }
        var left: [EngineWatcher<Model>] = []
        for watcher in watchers {
            if watcher.condition(self) {
                watcher.continuation.resume(returning: true)
            } else {
                left.append(watcher)
            }
        }
        watchers = left
    }

    private func dismissWatcher(_ id: UInt64) {
        guard let index = watchers.firstIndex(where: { $0.id == id }) else { return }
        watchers.remove(at: index).continuation.resume(returning: false)
    }

    /// The engine is closed: nothing comes true any more.
    func dismissWatchers() {
        tellWatchers()
        for watcher in watchers { watcher.continuation.resume(returning: false) }
        watchers = []
    }
}

/// Somebody who waits until something is true of an engine.
struct EngineWatcher<Model: RecordCodable>: Sendable {
    let id: UInt64
    let condition: @Sendable (isolated SyncEngine<Model>) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
}
