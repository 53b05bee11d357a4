public import RecordCoding

/// Keeps the models of one type the same on all of a user's devices.
///
/// ```swift
/// let engine = SyncEngine<Landmark>()
/// try await engine.upload(landmark)                            // creates it; durable here, sent soon afterwards
/// try await engine.edit(landmark) { $0.isFavorite = true }     // changes the newest version
/// for await change in engine.changes { … }                     // what other devices did
/// ```
///
/// The engine starts by itself, on the first call or the first request on one of its streams. It performs what
/// its state machine decides, and decides nothing itself. Neither a waiting stream nor a running request keeps
/// it alive; releasing the last reference ends it like ``close()``, in the background, and what is pending is sent
/// after the next launch. An engine of the same process that opens the same directory waits until it is released.
public actor SyncEngine<Model: RecordCodable> {
    let database: any CloudDatabase
    let configuration: SyncConfiguration
    nonisolated let clock: SteadyClock
    let coding: ModelCoding<Model>
    let zoneID: ZoneID

    // Beside the actor, guarded by their own locks.
    let requests: RequestLine<ChangeHub<Model>.Request>
    let callQueue: CallQueue
    let hub: ChangeHub<Model>
    let eventHub: Broadcaster<SyncEvent>
    let statusHub: Broadcaster<SyncStatus>
    let accountHub: Broadcaster<AccountStatus>
    /// What must be ended when the engine ends, in whatever way.
    nonisolated let resources: EngineResources

    // The actor's own.
    var phase = Phase.new
    var machine: SyncStateMachine?
    var journal: JournalLane?
    /// Passes on what the journal says; it ends with the journal.
    var outcomeTask: Task<Void, Never>?
    /// What the first `close` does; later ones wait for it.
    var closing: Task<Void, Never>?
    var calls: [CallID: CheckedContinuation<CallAnswer, Never>] = [:]
    var lastCall: CallID = 0
    var nextHandle: UInt64 = 1
    /// Contents that came with what is being processed, before they are stored.
    var staged: [ContentHandle: Record] = [:]
    /// The contents of inputs that led to batches which are not stored yet.
    var stagedByBatch: [BatchID: [ContentHandle: Record]] = [:]
    /// Contents of responses that the machine holds until the feed has been read.
    var heldContents: [ContentHandle: Record] = [:]
    /// Counts the states that were opened, so that what belongs to a former one is known by its number.
    var session = 0
    /// The place of a switch to another user whose state is not open yet: later calls are for that user.
    var pendingSwitch: CallQueue.Ticket?
    /// Where the states of all users are.
    var directory: StateDirectory?
    /// The number of the directory whose state is open.
    var stateNumber: Int64 = 0
    /// What the database said of its account when that was last looked up.
    var accountGeneration = 0
    /// Streams that asked while no state could be opened.
    var unserved: [StreamID] = []
    /// Keeps other models out of the zone.
    var registration: ModelRegistry.Registration?
    var stateDirectory: String?
    var lastAccountStatus: AccountStatus?
    var currentStatus = SyncStatus.stopped
    /// The app's last word before the state was open was `stop`.
    var isStopWanted = false
    var handled = HandledNotifications()
    /// Everything handed to the journal up to this mark is done, and the machine knows it.
    var journalRest: UInt64 = 0
    var watchers: [EngineWatcher<Model>] = []
    var lastWatcher: UInt64 = 0
    /// Versions that the cloud has told of, for each call that waits for a summary.
    var fetchedVersions: [CallID: [ReadVersion]] = [:]

    enum Phase {
        case new
        case opening(Task<Void, any Error>)
        case open
        /// Another user's state is being opened in the place of the present one.
        case switching(Task<Void, any Error>)
        case closed
    }

    /// Makes an engine; neither throws nor touches the disk.
    ///
    /// - Parameters:
    ///   - database: Where the records are.
    ///   - configuration: How the engine is set up.
    public init(database: any CloudDatabase, configuration: SyncConfiguration = .init()) {
        self.database = database
        self.configuration = configuration
        clock = SteadyClock(configuration.clock)
        zoneID = ZoneID(zoneName: configuration.zoneName ?? Model.recordType)
        coding = ModelCoding(zoneID: zoneID, writesEditDates: configuration.editDates == .recordField)
        let (asked, continuation) = AsyncStream.makeStream(of: ChangeHub<Model>.Request.self)
        let line = RequestLine(continuation)
        requests = line
        callQueue = CallQueue { line.ask(.wake) }
        hub = ChangeHub(requests: line, calls: callQueue)
        eventHub = Broadcaster(limit: 1000, replaysLatest: false) { .dropped(count: $0) }
        statusHub = Broadcaster(limit: 1, replaysLatest: true, initial: .stopped)
        accountHub = Broadcaster(limit: 1, replaysLatest: true)
        resources = EngineResources { [hub, eventHub, statusHub, accountHub] in
            hub.finish()
            eventHub.finish()
            statusHub.finish()
            accountHub.finish()
        }
        resources.onRest { [weak self] in await self?.tellWatchers() }
        // Ends when the hub finishes: the task holds the engine only while it serves a request.
        Task { [weak self] in
            for await request in asked { await self?.serve(request) }
        }
    }

    /// What other devices did, and what became of this device's uploads; a new stream for each loop.
    ///
    /// Asking for the next element accepts the one before. What was not accepted is kept on disk, and delivered
    /// again: to the next stream, or after a restart. Leaving the loop does not accept the element. A stream is
    /// live from its first request; several live ones each get every change, and a change is done when all
    /// have accepted it. One stream is for one loop.
    ///
    /// - A stream that is kept in a variable after its loop was left is still live, and holds what it has back,
    ///   until the variable is gone. One that is never asked holds nothing back.
    /// - Two tasks that share a stream share its elements; the next request of either accepts what was handed out
    ///   before it, and the end of one loop ends the other. What was not accepted then comes again.
    /// - An operator that reads ahead, such as a buffer, asks ahead, and so accepts what its loop has not seen yet.
    ///   Take elements straight from the stream where a crash must not lose one.
    /// - Changes of one record are coalesced to the newest, a deletion included. An element holds at most 200
    ///   records. What is not accepted is kept on disk, not in memory.
    /// - A loop that holds an element while 1000 changes come for it is reported once by
    ///   ``SyncEvent/streamStalled(waiting:)``.
    /// - An element that was not accepted when the process ended may be what ended it: after the next launch its
    ///   records come one at a time, after all others, and one that came alone and was not accepted comes last. A
    ///   record over which the app crashes each time holds up no other.
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

#if !canImport(CloudKit)
    extension SyncEngine {
        /// Makes an engine on the platform's default database; neither throws nor touches the disk.
        ///
        /// - Parameter configuration: How the engine is set up.
        public init(configuration: SyncConfiguration = .init()) {
            self.init(database: .default, configuration: configuration)
        }
    }
#endif
