import RecordCoding

/// Performs the state machine's actions for everything that shares an account, a journal and a queue of
/// calls.
///
/// The core isn't generic: it knows a model's records only through ``SyncedModel``, and never holds the
/// models themselves. A ``SyncContainer`` retains it; waiting streams and requests in flight hold it weakly,
/// and releasing it closes it in the background.
actor SyncCore {
    let database: any CloudDatabase
    let configuration: SyncConfiguration
    nonisolated let clock: SteadyClock
    /// The model whose records the core syncs.
    let model: any SyncedModel
    let zoneID: ZoneID

    // Usable from any thread, guarded by their own locks.
    nonisolated let requests: StreamRequests
    nonisolated let callQueue: CallQueue
    nonisolated let eventHub: Broadcaster<SyncEvent>
    nonisolated let statusHub: Broadcaster<SyncStatus>
    nonisolated let accountHub: Broadcaster<AccountStatus>
    /// The tasks and the sleep that must end with the engine.
    nonisolated let resources: CoreResources

    /// What reads see without waiting for a turn; `nil` while no state is open.
    nonisolated let published = Locked<StateView?>(nil)
    /// How many views were made, of which each has its own number.
    var viewCount = 0

    // Isolated to the actor.
    var phase = Phase.new
    var machine: SyncStateMachine?
    /// The files of the open state.
    var files: OpenFiles?
    /// The inputs since the last turn ended.
    var turn = Turn()
    /// What is known about storing turns.
    var storing = Storing()
    /// The task of the first call to `close`; later calls wait for it.
    var closing: Task<Void, Never>?
    var calls: [CallID: CheckedContinuation<CallAnswer, Never>] = [:]
    var lastCall: CallID = 0
    var nextHandle: UInt64 = 1
    /// Contents of responses that the machine holds until the feed has been read.
    var heldContents: [ContentHandle: Record] = [:]
    /// Counts the opened states, so that results for a former user's state can be recognised.
    var session = 0
    /// The place of a switch to a user whose state is not open yet; later calls are for that user.
    var pendingSwitch: CallQueue.Ticket?
    /// Where the open state is.
    var place: StatePlace?
    /// The database's account generation at the last look-up.
    var accountGeneration = 0
    /// Whether requests were made while the state of the user who is signed in could not be opened.
    var hasUnserved = false
    /// Keeps engines of other models out of the zone.
    var registration: ModelRegistry.Registration?
    var lastAccountStatus: AccountStatus?
    var currentStatus = SyncStatus.stopped
    /// Whether the app's latest call was `stop` rather than `start`.
    var isStopWanted = false
    var handled = HandledNotifications()
    /// The fields with values of unknown kinds that were reported.
    var reportedFields: Set<String> = []
    var watchers: [CoreWatcher] = []
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

    /// Creates a core without accessing the disk.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - zoneID: The zone with the model's records.
    ///   - database: The database.
    ///   - configuration: The configuration.
    ///   - requests: Passes the requests of the model's streams to the core.
    ///   - calls: Keeps the calls and the requests of streams in order.
    init(
        _ model: any SyncedModel,
        in zoneID: ZoneID,
        on database: any CloudDatabase,
        _ configuration: SyncConfiguration,
        requests: StreamRequests,
        calls: CallQueue
    ) {
        self.database = database
        self.configuration = configuration
        self.model = model
        self.zoneID = zoneID
        self.requests = requests
        callQueue = calls
        clock = SteadyClock(configuration.clock)
        eventHub = Broadcaster(limit: 1000, replaysLatest: false) { .dropped(count: $0) }
        statusHub = Broadcaster(limit: 1, replaysLatest: true, initial: .stopped)
        accountHub = Broadcaster(limit: 1, replaysLatest: true)
        resources = CoreResources { [eventHub, statusHub, accountHub] in
            model.finishStreams()
            requests.finish()
            eventHub.finish()
            statusHub.finish()
            accountHub.finish()
        }
        resources.onRest { [weak self] in await self?.notifyWatchers() }
        // The task ends when the line finishes, and holds the core only while it serves a request.
        Task { [weak self] in
            for await request in requests.requests { await self?.serve(request) }
        }
    }
}
