/// Ends what an engine has begun when the engine is closed, or gone.
final class EngineResources: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// The tasks of requests, by request.
        var requests: [RequestID: UInt64] = [:]
        var timers: [SyncTimer: (id: UInt64, instant: Duration, task: Task<Void, Never>)] = [:]
        /// Timers that have woken, and whose work is not done.
        var firing = 0
        var lastID: UInt64 = 0
        var isEnded = false
        var journal: JournalLane?
    }

    private let state = Locked(State())
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    /// How many tasks and timers are running: what tests look at for leaks.
    var counts: (tasks: Int, timers: Int) {
        state.withLock { ($0.tasks.count + $0.firing, $0.timers.count) }
    }

    /// When the next timer fires.
    var nextInstant: Duration? { state.withLock { $0.timers.values.map(\.instant).min() } }

    /// Whether a timer should have fired by now, and has not done its work.
    func hasDueTimer(at now: Duration) -> Bool {
        state.withLock { state in state.firing > 0 || state.timers.values.contains { $0.instant <= now } }
    }

    deinit {
        endAll()
        state.withLock { $0.journal }?.closeUnattended()
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
                guard self?.beginFiring(timer, id) == true else { return }
                await work()
                self?.endFiring()
            }
            state.timers[timer] = (id, instant, task)
        }
    }

    /// The time has come; `false` if the timer was set anew, or cancelled, just then.
    private func beginFiring(_ timer: SyncTimer, _ id: UInt64) -> Bool {
        state.withLock { state in
            guard state.timers[timer]?.id == id else { return false }
            state.timers[timer] = nil
            state.firing += 1
            return true
        }
    }

    private func endFiring() {
        state.withLock { $0.firing -= 1 }
    }

    func cancel(_ timer: SyncTimer) {
        state.withLock { $0.timers.removeValue(forKey: timer) }?.task.cancel()
    }

    func endAll() {
        let (tasks, timers) = state.withLock { state in
            state.isEnded = true
            defer {
                state.tasks = [:]
                state.requests = [:]
                state.timers = [:]
            }
            return (Array(state.tasks.values), Array(state.timers.values))
        }
        for task in tasks { task.cancel() }
        for timer in timers { timer.task.cancel() }
        end()
    }
}
