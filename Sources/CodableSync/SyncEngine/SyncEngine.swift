public import RecordCoding

/// Keeps the models of one type in sync on all of a user's devices.
///
/// ```swift
/// let engine = SyncEngine<Landmark>()
/// try await engine.upload(landmark)                            // creates it; durable here, sent soon afterwards
/// try await engine.edit(landmark) { $0.isFavorite = true }     // changes the newest version
/// for await change in engine.changes { … }                     // what other devices did
/// ```
///
/// The engine starts by itself, with the first call or the first request on one of its streams. Neither a
/// waiting stream nor a request in flight keeps it alive. Releasing the last reference ends it like
/// ``close()``, but in the background; pending changes are sent after the next launch. If another engine in
/// the same process opens the same directory, it waits until the directory is released.
public actor SyncEngine<Model: RecordCodable> {
    let database: any CloudDatabase
    let configuration: SyncConfiguration
    nonisolated let clock: SteadyClock
    let coding: ModelCoding<Model>
    let zoneID: ZoneID

    // Usable from any thread, guarded by their own locks.
    let requests: RequestLine<ChangeHub<Model>.Request>
    let callQueue: CallQueue
    let hub: ChangeHub<Model>
    let eventHub: Broadcaster<SyncEvent>
    let statusHub: Broadcaster<SyncStatus>
    let accountHub: Broadcaster<AccountStatus>
    /// The tasks and timers that must end with the engine.
    nonisolated let resources: EngineResources

    // Isolated to the actor.
    var phase = Phase.new
    var machine: SyncStateMachine?
    var journal: JournalLane?
    /// Passes the journal's outcomes to the machine; it ends with the journal.
    var outcomeTask: Task<Void, Never>?
    /// The task of the first call to `close`; later calls wait for it.
    var closing: Task<Void, Never>?
    var calls: [CallID: CheckedContinuation<CallAnswer, Never>] = [:]
    var lastCall: CallID = 0
    var nextHandle: UInt64 = 1
    /// Contents that belong to the input being processed and are not stored yet.
    var staged: [ContentHandle: Record] = [:]
    /// The contents of inputs whose batches are not stored yet.
    var stagedByBatch: [BatchID: [ContentHandle: Record]] = [:]
    /// Contents of responses that the machine holds until the feed has been read.
    var heldContents: [ContentHandle: Record] = [:]
    /// Counts the opened states, so that results for a former user's state can be recognised.
    var session = 0
    /// The place of a switch to a user whose state is not open yet; later calls are for that user.
    var pendingSwitch: CallQueue.Ticket?
    /// The directory with the states of all users.
    var directory: StateDirectory?
    /// The number of the user's directory whose state is open.
    var stateNumber: Int64 = 0
    /// The database's account generation at the last look-up.
    var accountGeneration = 0
    /// Whether requests were made while the state of the user who is signed in could not be opened.
    var hasUnserved = false
    /// Keeps engines of other models out of the zone.
    var registration: ModelRegistry.Registration?
    var stateDirectory: String?
    var lastAccountStatus: AccountStatus?
    var currentStatus = SyncStatus.stopped
    /// Whether the app's latest call was `stop` rather than `start`.
    var isStopWanted = false
    var handled = HandledNotifications()
    /// The journal's mark up to which all work is done and processed by the machine.
    var journalRest: UInt64 = 0
    var watchers: [EngineWatcher<Model>] = []
    var lastWatcher: UInt64 = 0
    /// Versions that the cloud has returned since a call began, for each call that waits for a summary.
    var fetchedVersions: [CallID: [ReadVersion]] = [:]

    enum Phase {
        case new
        case opening(Task<Void, any Error>)
        case open
        /// Another user's state is being opened to replace the current one.
        case switching(Task<Void, any Error>)
        case closed
    }

    /// Creates an engine without throwing or accessing the disk.
    ///
    /// - Parameters:
    ///   - database: The database with the records.
    ///   - configuration: The engine's configuration.
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
        // The task ends when the hub finishes, and holds the engine only while it serves a request.
        Task { [weak self] in
            for await request in asked { await self?.serve(request) }
        }
    }

    /// A new stream of changes by other devices and of confirmed uploads by this device.
    ///
    /// Requesting the next element accepts the previous one. Changes that were not accepted are kept on disk
    /// and delivered again, to the next stream or after a restart. Leaving the loop does not accept the
    /// element. A stream is live from its first request. Each live stream gets every change, and a change is
    /// done when all of them have accepted it. Use a separate stream for each loop.
    ///
    /// - A stream that you keep in a variable after leaving its loop is still live, and its changes stay
    ///   undelivered until you release it. A stream without any request holds nothing back.
    /// - Two tasks that share a stream share its elements. The next request of either accepts what was
    ///   delivered before, and the end of one loop ends the other; what was not accepted by then is delivered
    ///   again.
    /// - An operator that reads ahead, such as a buffer, accepts elements that its loop has not seen yet. If
    ///   a crash must not lose an element, take elements directly from the stream.
    /// - Changes to one record are coalesced to the newest one, including a deletion. An element holds at
    ///   most 200 records. Changes that are not accepted are kept on disk, not in memory.
    /// - A loop that holds an element while 1000 changes arrive for it is reported once by
    ///   ``SyncEvent/streamStalled(waiting:)``.
    /// - An element that was not accepted when the process ended may have crashed it. After the next launch,
    ///   its records are delivered one at a time, after all others; a record that was already delivered alone
    ///   comes last. So a record that crashes the app each time does not block the others.
    public nonisolated var changes: AsyncStream<ModelChange<Model>> { hub.stream() }

    /// The events in the engine, for logs; a stream buffers the newest 1000 and counts those that it drops.
    public nonisolated var events: AsyncStream<SyncEvent> {
        eventHub.stream { [hub] in hub.wake() }
    }

    /// The engine's status; a stream starts with the current status and skips values that it is too slow to
    /// receive.
    public nonisolated var status: AsyncStream<SyncStatus> {
        statusHub.stream { [hub] in hub.wake() }
    }

    /// The account's status; a stream starts with the last known status.
    public nonisolated var accountStatus: AsyncStream<AccountStatus> {
        accountHub.stream { [hub] in hub.wake() }
    }
}

#if !canImport(CloudKit)
    extension SyncEngine {
        /// Creates an engine on the platform's default database without throwing or accessing the disk.
        ///
        /// - Parameter configuration: The engine's configuration.
        public init(configuration: SyncConfiguration = .init()) {
            self.init(database: .default, configuration: configuration)
        }
    }
#endif
