/// Tracks an engine's tasks and its sleep, and ends them when the engine is closed or released.
final class CoreResources: Sendable {
    struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// The tasks of requests, by request.
        var requests: [RequestID: UInt64] = [:]
        /// The sleep until the next instant at which the machine has something to do.
        var sleep: (id: UInt64, instant: Duration, task: Task<Void, Never>)?
        /// The number of sleeps that have ended and whose work is not done.
        var waking = 0
        var lastID: UInt64 = 0
        var isEnded = false
        /// Whether the app has released the engine.
        var isReleased = false
        var files: OpenFiles?
        /// Work that continues as long as the engine lives, such as listening to signals.
        var endless: Set<UInt64> = []
        /// The number of requests that a test holds.
        var held = 0
        /// Called when work ends or pauses because a test holds it.
        var tellRest: (@Sendable () async -> Void)?

    }

    let state = Locked(State())
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    /// Whether no work is running, apart from what a test holds, and no sleep is over.
    func isAtRest(at now: Duration) -> Bool {
        state.withLock { state in
            guard state.tasks.count - state.endless.count <= state.held, state.waking == 0 else {
                return false
            }
            return state.sleep.map { $0.instant > now } ?? true
        }
    }

    /// Sets the callback for when work ends or pauses because a test holds it.
    func onRest(_ tellRest: @escaping @Sendable () async -> Void) {
        state.withLock { $0.tellRest = tellRest }
    }

    deinit {
        endAll()
        state.withLock { $0.files }?.closeUnattended()
    }

    /// Notes that the app has released the engine, which may still be at work for an instant.
    func beginRelease() {
        let files = state.withLock { state in
            state.isReleased = true
            return state.files
        }
        files?.beginRelease()
    }

    func keep(_ files: OpenFiles?) {
        let isReleased = state.withLock { state in
            state.files = files
            return state.isReleased
        }
        if isReleased { files?.beginRelease() }
    }

    /// Runs work that is cancelled when the engine ends.
    ///
    /// - Parameters:
    ///   - request: The request that the work makes, if any.
    ///   - isEndless: Whether the work continues as long as the engine lives.
    ///   - work: The work.
    func run(
        _ request: RequestID? = nil,
        isEndless: Bool = false,
        _ work: @escaping @Sendable () async -> Void
    ) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.lastID += 1
            let id = state.lastID
            if let request { state.requests[request] = id }
            if isEndless { state.endless.insert(id) }
            let tell = { @Sendable [weak self] isHeld in
                guard let self else { return }
                hold(isHeld)
            }
            state.tasks[id] = Task { [weak self] in
                await HeldWork.run(telling: tell, work)
                await self?.forget(id, request)?()
            }
        }
    }

    /// - Returns: The callback to call, if any.
    private func forget(_ id: UInt64, _ request: RequestID?) -> (@Sendable () async -> Void)? {
        state.withLock { state in
            state.tasks[id] = nil
            state.endless.remove(id)
            if let request { state.requests[request] = nil }
            return state.tellRest
        }
    }

    /// Notes that a test holds or releases a request.
    private func hold(_ isHeld: Bool) {
        let tellRest = state.withLock { state in
            state.held += isHeld ? 1 : -1
            return state.tellRest
        }
        if isHeld, let tellRest { Task { await tellRest() } }
    }

    /// Cancels a request whose response is no longer needed.
    func cancel(_ request: RequestID) {
        state.withLock { state in
            state.requests.removeValue(forKey: request).flatMap { state.tasks[$0] }
        }?.cancel()
    }

    /// Cancels a former user's requests and sleep.
    func endRequests() {
        let tasks = state.withLock { state in
            let tasks = state.requests.values.sorted().compactMap { state.tasks[$0] }
            defer {
                state.requests = [:]
                state.sleep = nil
            }
            return tasks + [state.sleep?.task].compactMap { $0 }
        }
        for task in tasks { task.cancel() }
    }

    /// Runs work at an instant, instead of the work that was to run at another.
    func sleep(
        until instant: Duration,
        on clock: any SyncClock,
        _ work: @escaping @Sendable () async -> Void
    ) {
        state.withLock { state in
            state.sleep?.task.cancel()
            state.sleep = nil
            guard !state.isEnded else { return }
            state.lastID += 1
            let id = state.lastID
            let task = Task { [weak self] in
                do {
                    try await clock.sleep(until: instant)
                } catch {
                    return  // Cancelled: somebody needs it no more.
                }
                guard self?.beginWaking(id) == true else { return }
                await work()
                await self?.endWaking()?()
            }
            state.sleep = (id, instant, task)
        }
    }

    /// Notes that a sleep is over; returns `false` if it was replaced or cancelled in the meantime.
    private func beginWaking(_ id: UInt64) -> Bool {
        state.withLock { state in
            guard state.sleep?.id == id else { return false }
            state.sleep = nil
            state.waking += 1
            return true
        }
    }

    /// - Returns: The callback to call, if any.
    private func endWaking() -> (@Sendable () async -> Void)? {
        state.withLock { state in
            state.waking -= 1
            return state.tellRest
        }
    }

    func endSleep() {
        state.withLock { state in
            defer { state.sleep = nil }
            return state.sleep
        }?.task.cancel()
    }

    func endAll() {
        let tasks = state.withLock { state in
            state.isEnded = true
            defer {
                state.tasks = [:]
                state.requests = [:]
                state.sleep = nil
            }
            return state.tasks.sorted { $0.key < $1.key }.map(\.value) + [state.sleep?.task].compactMap { $0 }
        }
        for task in tasks { task.cancel() }
        end()
    }
}
