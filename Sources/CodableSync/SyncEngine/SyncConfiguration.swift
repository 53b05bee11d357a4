public import struct Foundation.Date
public import struct Foundation.URL

/// How an engine is set up; the defaults suit an app.
public struct SyncConfiguration: Sendable {
    /// Where the engine's state is kept.
    public enum Storage: Hashable, Sendable {
        /// In memory for a database in memory, else in the user's data directory.
        case automatic
        /// In this directory, which no other engine may use.
        case directory(URL)
        /// In memory: gone with the engine.
        case inMemory
    }

    /// What `upload` and `delete` wait for.
    public enum Durability: Hashable, Sendable {
        /// The change survives a loss of power.
        case flushed
        /// The change survives the death of the process.
        case written
    }

    /// How it is known when an edit was made.
    public enum EditDates: Hashable, Sendable {
        /// A field of its own in each record, `codableSyncEdited`.
        case recordField
        /// The server's save date only, for a schema that cannot be extended.
        case saveDatesOnly
    }

    /// What becomes of this device's records when their user signs out, or another one signs in.
    public enum OnSignOut: Hashable, Sendable {
        /// They stay under their user: reads go on to show them until another user signs in, and all is as it was when
        /// the user returns.
        case keep
        /// Those that the cloud has confirmed are removed, from the files too; edits that it does not have stay under
        /// their user, with what they must be merged with. When the user returns, everything is fetched in full.
        case remove
    }

    /// Where the engine's state is kept.
    public var storage = Storage.automatic
    /// What `upload` and `delete` wait for.
    public var durability = Durability.flushed
    /// Whether the engine sends and fetches by itself; if not, only `sync` and its parts talk to the cloud.
    public var automaticallySyncs = true
    /// The zone's name; the model's record type if left out.
    ///
    /// 1 to 255 ASCII characters, the first no underscore.
    public var zoneName: String?
    /// The container's identifier; the bundle's, or the name of the executable, if left out.
    ///
    /// 1 to 255 ASCII letters, digits, points, hyphens and underscores.
    public var containerIdentifier: String?
    /// How it is known when an edit was made.
    public var editDates = EditDates.recordField
    /// How long after a fetch the next one begins, where nothing else asks for it; `nil` never.
    ///
    /// 1 second to 365 days.
    public var pollInterval: Duration? = .seconds(300)
    /// How long a request may take before its response counts as lost: above zero, at most a day.
    public var requestDeadline: Duration = .seconds(60)
    /// The most records in a page of a fetch; the database's own number if left out.
    ///
    /// 1 to the `maximumPageSize` of the database's limits.
    public var fetchPageSize: Int?
    /// Whether changes that nobody takes are kept for a later stream.
    public var keepsUndelivered = true
    /// What becomes of this device's records when their user signs out, or another one signs in.
    ///
    /// No `.deleted` is delivered for what is removed: it is in the cloud as before. The event
    /// ``SyncEvent/accountChanged(from:to:)`` tells the app to read ``SyncEngine/allModels()`` anew.
    public var onSignOut = OnSignOut.keep
    /// Called for every event, from any thread; must be quick.
    public var logHandler: (@Sendable (SyncEvent) -> Void)?
    /// Where the engine gets its time from.
    public var clock: any SyncClock = SystemClock()
    /// What the date is; the clock's wall if left out.
    public var date: (@Sendable () -> Date)?

    /// The seed of the jitter in waits; another one for each engine unless a test sets it.
    package var seed: UInt64?
    /// The files; the system's own unless a test sets others.
    package var fileSystem: (any FileSystem)?
    /// The size from which the state's files are compacted if that saves much; a test may lower it.
    package var compactionSize: UInt64 = JSONStateStore.compactionSize
    /// Looks at the machine after each input, in tests and simulations.
    package var inspector: (@Sendable (SyncStateMachine) -> Void)?

    /// Makes the configuration that suits an app.
    public init() {}
}
