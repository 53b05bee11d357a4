/// Waiting for an idle engine, for tests.
extension SyncEngine {
    /// Returns once the engine has nothing left to do at the clock's time, for tests.
    ///
    /// The engine is then not requesting, storing, decoding, resolving or delivering anything, no timer is
    /// due, and no signal from the database is waiting to be received. The call does not wait for a later
    /// time, for the app or for the network: advance the clock, take elements from ``changes`` or restore the
    /// network, and call it again. Signals are taken into account for ``FakeDatabase``, ``LocalDatabase``,
    /// and a ``ForwardingDatabase`` in front of one of them. Signals that your own stream of them has not
    /// received count as well.
    ///
    /// ```swift
    /// try await phone.upload(note)
    /// await phone.waitUntilIdle()                      // it was sent
    /// clock.advance(by: .seconds(300))
    /// await phone.waitUntilIdle()                      // the poll is over
    /// ```
    ///
    /// A request that is held by a ``FakeHold`` or is never answered does not count. The call does not open
    /// the engine; an engine that was never opened, or is closed, is idle. It returns early if the task is
    /// cancelled.
    public func waitUntilIdle() async {
        let signals = database as? any SignalTelling
        repeat {
            if case .closed = phase { break }
            takeNotes()
            await signals?.waitUntilSignalsAreTaken()
            await wait { $0.isIdle }
        } while signals?.areSignalsTaken == false && !Task.isCancelled
    }

    /// Whether there is nothing to do at the clock's time, apart from signals that are still in the
    /// database's streams.
    var isIdle: Bool {
        switch phase {
        case .opening, .switching: return false
        case .closed: return true
        case .new, .open: break
        }
        guard requests.isAnswered, resources.isAtRest(at: clock.now.monotonic) else { return false }
        return journal.map { $0.mark == journalRest } ?? true
    }

    /// Returns once a condition holds; it is checked whenever the engine's state changes.
    ///
    /// - Parameter condition: The condition.
    /// - Returns: Whether it held before the task was cancelled or the engine closed.
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

    /// Resumes the watchers whose condition holds.
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

    /// Resumes all watchers, since the engine is closed.
    func dismissWatchers() {
        tellWatchers()
        for watcher in watchers { watcher.continuation.resume(returning: false) }
        watchers = []
    }
}

/// A caller that waits until a condition holds for an engine.
struct EngineWatcher<Model: RecordCodable>: Sendable {
    let id: UInt64
    let condition: @Sendable (isolated SyncEngine<Model>) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
}
