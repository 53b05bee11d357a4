/// Tracks an engine's work and its sleep, and ends them when the engine is closed or released.
final class CoreResources: Sendable {
    struct Work: Sendable {
        let task: Task<Void, Never>
        /// The request that the work makes, if any.
        var request: RequestID?
        /// The time that the request waits before it is sent.
        var wait: RequestWait?
        /// Whether it continues as long as the engine lives, such as listening to signals.
        var isEndless = false
        /// Until when it sleeps, if it does.
        var instant: Duration?
    }

    struct State {
        var works: [UInt64: Work] = [:]
        var lastID: UInt64 = 0
        var isEnded = false
        /// Whether the app has released the engine.
        var isReleased = false
        var files: OpenFiles?
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
            let works = state.works.values
            if works.contains(where: { $0.instant.map { $0 <= now } ?? false }) { return false }
            return works.filter { !$0.isEndless && $0.instant == nil }.count <= state.held
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

    // MARK: Running

    /// Runs work that is cancelled when the engine ends.
    ///
    /// - Parameters:
    ///   - request: The request that the work makes, if any.
    ///   - wait: The time that the request waits before it is sent.
    ///   - isEndless: Whether the work continues as long as the engine lives.
    ///   - work: The work.
    func run(
        _ request: RequestID? = nil,
        _ wait: RequestWait? = nil,
        isEndless: Bool = false,
        _ work: @escaping @Sendable () async -> Void
    ) {
        state.withLock { state in
            state.begin { id in
                let tell = { @Sendable [weak self] isHeld in
                    guard let self else { return }
                    hold(isHeld)
                }
                // Not less urgent than a caller that waits for what another has begun.
                let task = Task(priority: .userInitiated) { [weak self] in
                    await HeldWork.run(telling: tell, work)
                    await self?.forget(id)?()
                }
                return Work(task: task, request: request, wait: wait, isEndless: isEndless)
            }
        }
    }

    /// Runs work at an instant, instead of the work that was to run at another.
    func sleep(
        until instant: Duration,
        on clock: any SyncClock,
        _ work: @escaping @Sendable () async -> Void
    ) {
        endSleep()
        state.withLock { state in
            state.begin { id in
                let task = Task(priority: .userInitiated) { [weak self] in
                    do {
                        try await clock.sleep(until: instant)
                    } catch {
                        return  // Cancelled: somebody needs it no more.
                    }
                    guard self?.wake(id) == true else { return }
                    await work()
                    await self?.forget(id)?()
                }
                return Work(task: task, instant: instant)
            }
        }
    }

    /// Notes that a sleep is over; returns `false` if it was replaced or cancelled in the meantime.
    private func wake(_ id: UInt64) -> Bool {
        state.withLock { state in
            state.works[id]?.instant = nil
            return state.works[id] != nil
        }
    }

    /// - Returns: The callback to call, if any.
    private func forget(_ id: UInt64) -> (@Sendable () async -> Void)? {
        state.withLock { state in
            state.works[id] = nil
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

    /// The requests that have waited before they were sent, and how long since this was last asked.
    func takeWaits() -> [(request: RequestID, time: Duration)] {
        let waits = state.withLock {
            $0.works.values.compactMap { work in work.wait.map { (work.request, $0) } }
        }
        return waits.compactMap { request, wait in
            let time = wait.takeTime()
            return request.flatMap { time > .zero ? ($0, time) : nil }
        }.sorted { $0.request < $1.request }
    }

    // MARK: Ending

    /// Cancels a request whose response is no longer needed.
    func cancel(_ request: RequestID) {
        state.withLock { state in
            let work = state.works.first { $0.value.request == request }
            if let work { state.works[work.key]?.request = nil }
            return work?.value.task
        }?.cancel()
    }

    /// Cancels a former user's requests and sleep.
    func endRequests() {
        let tasks = state.withLock { state in
            let requests = state.works.filter { $0.value.request != nil }.sorted { $0.key < $1.key }
            for request in requests { state.works[request.key]?.request = nil }
            return requests.map(\.value.task)
        }
        for task in tasks { task.cancel() }
        endSleep()
    }

    func endSleep() {
        state.withLock { state in
            state.works.first { $0.value.instant != nil }.flatMap { state.works.removeValue(forKey: $0.key) }
        }?.task.cancel()
    }

    func endAll() {
        let works = state.withLock { state in
            state.isEnded = true
            defer { state.works = [:] }
            return state.works.sorted { $0.key < $1.key }
        }
        for work in works { work.value.task.cancel() }
        end()
    }
}

extension CoreResources.State {
    fileprivate mutating func begin(_ make: (UInt64) -> CoreResources.Work) {
        guard !isEnded else { return }
        lastID += 1
        works[lastID] = make(lastID)
    }
}
