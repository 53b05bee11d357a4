/// Ends what an engine has begun when the engine is closed, or gone.
final class EngineResources: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// The tasks of requests, by request.
        var requests: [RequestID: UInt64] = [:]
        var timers: [SyncTimer: (id: UInt64, task: Task<Void, Never>)] = [:]
        var lastID: UInt64 = 0
        var isEnded = false
        var journal: JournalLane?
    }

    private let state = Locked(State())
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        endAll()
        state.withLock { $0.journal }?.closeAndWait()
    }

    func keep(_ journal: JournalLane?) {
        state.withLock { $0.journal = journal }
    }

    /// Runs a piece of work that ends with the engine.
    func run(_ request: RequestID? = nil, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.lastID += 1
            let id = state.lastID
            if let request { state.requests[request] = id }
            state.tasks[id] = Task { [weak self] in
                await work()
                self?.forget(id, request)
            }
        }
    }

    private func forget(_ id: UInt64, _ request: RequestID?) {
        state.withLock { state in
            state.tasks[id] = nil
            if let request { state.requests[request] = nil }
        }
    }

    /// Gives up a request that was not answered in time.
    func cancel(_ request: RequestID) {
        state.withLock { state in
            state.requests.removeValue(forKey: request).flatMap { state.tasks[$0] }
        }?.cancel()
    }

    /// Gives up what was asked for, and waited for, on behalf of a former user.
    func endRequests() {
        let (tasks, timers) = state.withLock { state in
            let tasks = state.requests.values.compactMap { state.tasks[$0] }
            defer {
                state.requests = [:]
                state.timers = [:]
            }
            return (tasks, Array(state.timers.values))
        }
        for task in tasks { task.cancel() }
        for timer in timers { timer.task.cancel() }
    }

    /// Runs work at a time; the former timer of the same name is cancelled.
    func setTimer(
        _ timer: SyncTimer,
        at instant: Duration,
        on clock: any SyncClock,
        _ work: @escaping @Sendable () async -> Void
    ) {
        state.withLock { state in
            state.timers[timer]?.task.cancel()
            guard !state.isEnded else { return }
            state.lastID += 1
            let id = state.lastID
            let task = Task { [weak self] in
                do {
                    try await clock.sleep(until: instant)
                } catch {
                    return  // Cancelled: somebody needs it no more.
                }
                self?.forget(timer, id)
                await work()
            }
            state.timers[timer] = (id, task)
        }
    }

    private func forget(_ timer: SyncTimer, _ id: UInt64) {
        state.withLock { state in
            if state.timers[timer]?.id == id { state.timers[timer] = nil }
        }
    }

    func cancel(_ timer: SyncTimer) {
        state.withLock { $0.timers.removeValue(forKey: timer) }?.task.cancel()
    }

    func endAll() {
        let (tasks, timers) = state.withLock { state in
            state.isEnded = true
            defer {
                state.tasks = [:]
                state.timers = [:]
            }
            return (Array(state.tasks.values), Array(state.timers.values))
        }
        for task in tasks { task.cancel() }
        for timer in timers { timer.task.cancel() }
        end()
    }
}
