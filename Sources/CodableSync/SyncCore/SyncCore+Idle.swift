/// Waiting for an idle core, for tests.
extension SyncCore {
    /// Returns once the core has nothing left to do at the clock's time, for tests.
    func waitUntilIdle() async {
        let signals = database.nearest { $0 as? any SignalTracking }
        repeat {
            if case .closed = phase { break }
            await waitForCalls()
            takeRequests()
            await signals?.waitUntilSignalsAreTaken()
            await wait { $0.isIdle }
        } while (signals?.areSignalsTaken == false || !callQueue.isEmpty) && !Task.isCancelled
    }

    /// Returns once all calls that were made before have ended.
    private func waitForCalls() async {
        if callQueue.isEmpty { return }
        do {
            try await callQueue.waitForAll(at: now.wall)
        } catch {
            // The calls throw this error themselves, or the waiting task is cancelled.
        }
    }

    /// Whether there is nothing to do at the clock's time, apart from signals that are still in the
    /// database's streams.
    var isIdle: Bool {
        switch phase {
        case .opening, .switching: return false
        case .closed: return true
        case .new, .open: break
        }
        guard requests.isAnswered, resources.isAtRest(at: clock.now.monotonic) else {
            return false
        }
        return isStored
    }

    /// Returns once a condition holds; it is checked whenever the engine's state changes.
    ///
    /// - Parameter condition: The condition.
    /// - Returns: Whether it held before the task was cancelled or the engine closed.
    @discardableResult
    func wait(until condition: @escaping @Sendable (isolated SyncCore) -> Bool) async -> Bool {
        if condition(self) { return true }
        lastWatcher += 1
        let id = lastWatcher
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || isClosed {
                    continuation.resume(returning: false)
                } else {
                    watchers.append(CoreWatcher(id: id, condition: condition, continuation: continuation))
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
    func notifyWatchers() {
        if watchers.isEmpty { return }
        var left: [CoreWatcher] = []
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
        notifyWatchers()
        for watcher in watchers { watcher.continuation.resume(returning: false) }
        watchers = []
    }
}

/// A caller that waits until a condition holds for a core.
struct CoreWatcher: Sendable {
    let id: UInt64
    let condition: @Sendable (isolated SyncCore) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
}
