public import RecordCoding

/// Keeps the models of one type the same on all of a user's devices.
///
/// ```swift
/// let engine = SyncEngine<Landmark>()
/// try await engine.upload(landmark)              // durable here; sent soon afterwards
/// for await change in engine.changes { … }       // what other devices did
/// ```
///
/// The engine starts by itself, on the first call or the first request on one of its streams. It performs what
/// its state machine decides, and decides nothing itself. Neither a waiting stream nor a running request keeps
/// it alive; releasing the last reference ends it like ``close()``, and what is pending is sent after the next
/// launch.
public actor SyncEngine<Model: RecordCodable> {
    let database: any CloudDatabase
    let configuration: SyncConfiguration
    let coding: ModelCoding<Model>
    let zoneID: ZoneID

    // Beside the actor, guarded by their own locks.
    let hub: ChangeHub<Model>
    let eventHub: Broadcaster<SyncEvent>
    let statusHub: Broadcaster<SyncStatus>
    let accountHub: Broadcaster<AccountStatus>
    /// What must be ended when the engine ends, in whatever way.
    let resources: EngineResources

    // The actor's own.
    var phase = Phase.new
    var machine: SyncStateMachine?
    var journal: JournalLane?
    /// Passes on what the journal says; it ends with the journal.
    var outcomeTask: Task<Void, Never>?
    var calls: [CallID: CheckedContinuation<CallAnswer, Never>] = [:]
    /// Calls whose task was cancelled before they were known.
    var lastCall: CallID = 0
    var nextHandle: UInt64 = 1
    /// Contents that came with what is being processed, before they are stored.
    var staged: [ContentHandle: Record] = [:]
    /// Gives the open state to the first user who is confirmed.
    var claim: (@Sendable (String) throws -> Void)?
    var stateDirectory: String?
    var lastAccountStatus: AccountStatus?
    var currentStatus = SyncStatus.stopped

    enum Phase {
        case new
        case opening(Task<Void, any Error>)
        case open
        case closed
    }

    /// Makes an engine; neither throws nor touches the disk.
    ///
    /// - Parameters:
    ///   - database: Where the records are: the platform's default database if left out.
    ///   - configuration: How the engine is set up.
    public init(database: any CloudDatabase = .default, configuration: SyncConfiguration = .init()) {
        self.database = database
        self.configuration = configuration
        zoneID = ZoneID(zoneName: configuration.zoneName ?? Model.recordType)
        coding = ModelCoding(zoneID: zoneID, writesEditDates: configuration.editDates == .recordField)
        let (requests, continuation) = AsyncStream.makeStream(of: ChangeHub<Model>.Request.self)
        hub = ChangeHub(requests: continuation)
        eventHub = Broadcaster(limit: 1000, replaysLatest: false) { .dropped(count: $0) }
        statusHub = Broadcaster(limit: 1, replaysLatest: true)
        accountHub = Broadcaster(limit: 1, replaysLatest: true)
        resources = EngineResources { [hub, eventHub, statusHub, accountHub] in
            hub.finish()
            eventHub.finish()
            statusHub.finish()
            accountHub.finish()
        }
        // Ends when the hub finishes: the task holds the engine only while it serves a request.
        Task { [weak self] in
            for await request in requests { await self?.serve(request) }
        }
    }

    /// What other devices did, and what became of this device's uploads; a new stream for each loop.
    ///
    /// Asking for the next element accepts the one before. What was not accepted is kept on disk, and delivered
    /// again: to the next stream, or after a restart. Leaving the loop does not accept the element. A stream is
    /// live from its first request; several live ones each get every change, and a change is done when all
    /// have accepted it. One stream is for one loop.
    public nonisolated var changes: AsyncStream<ModelChange<Model>> { hub.stream() }

    /// What happens in the engine, for people and logs; a stream keeps the newest 1000 and counts the others.
    public nonisolated var events: AsyncStream<SyncEvent> {
        eventHub.stream { [hub] in hub.wake() }
    }

    /// What the engine is doing; a stream begins with the current state and skips what it was too slow for.
    public nonisolated var status: AsyncStream<SyncStatus> {
        statusHub.stream { [hub] in hub.wake() }
    }

    /// The state of the account; a stream begins with the last known state.
    public nonisolated var accountStatus: AsyncStream<AccountStatus> {
        accountHub.stream { [hub] in hub.wake() }
    }
}

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
        if let journal = state.withLock({ $0.journal }) {
            // What callers were promised is written already; the lane only lets go of its files.
            Task { await journal.close() }
        }
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
