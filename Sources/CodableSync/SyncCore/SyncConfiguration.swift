public import struct Foundation.URL

/// The configuration of an engine; the defaults suit most apps.
public struct SyncConfiguration: Sendable {
    /// Where the engine's state is kept.
    public enum Storage: Hashable, Sendable {
        /// In memory for an in-memory database, otherwise in the user's data directory.
        ///
        /// On tvOS, no directory is permanent: the system may delete the state while the app isn't running.
        /// The engine then fetches everything again, and edits that were not sent yet are lost.
        case automatic
        /// In a directory that no other engine may use.
        ///
        /// The engine holds a lock in it while it is open. Don't choose a directory in the container of an app
        /// group: most of Apple's systems end an app that is suspended while it holds a lock there.
        case directory(URL)
        /// In memory; the state is lost when the engine is released.
        case inMemory
    }

    /// What `upload` and `delete` wait for.
    public enum Durability: Hashable, Sendable {
        /// The change survives a power loss.
        case flushed
        /// The change survives a crash of the process.
        case written
    }

    /// Where edit dates come from.
    public enum EditDates: Hashable, Sendable {
        /// A field in each record, `codableSyncEdited`.
        case recordField
        /// Only the server's save date, for a schema that cannot be extended.
        case saveDatesOnly
    }

    /// What happens to the records on this device when their user signs out or another user signs in.
    public enum OnSignOut: Hashable, Sendable {
        /// The records stay. Reads show them until another user signs in, and again when their user returns.
        case keep
        /// The engine removes records that the cloud has confirmed, including from its files. It keeps edits
        /// that the cloud doesn't have, with the versions to merge them with. When the user returns, it
        /// fetches everything again.
        case remove
    }

    /// Where the engine's state is kept.
    public var storage = Storage.automatic
    /// What `upload` and `delete` wait for.
    public var durability = Durability.flushed
    /// Whether the engine sends and fetches on its own; if not, only `sync` and its parts make requests.
    public var automaticallySyncs = true
    /// The zone's name; `nil` means the model's record type.
    ///
    /// 1 to 255 ASCII characters, not starting with an underscore.
    public var zoneName: String?
    /// The container's identifier; `nil` means the bundle identifier, or the name of the executable if there
    /// is none.
    ///
    /// It is part of the engine's file paths, and the engine ignores pushes for other containers. In iCloud,
    /// it is the identifier of a container in the app's entitlements, which an engine without an explicit
    /// database uses; `nil` means the app's default container.
    ///
    /// 1 to 255 ASCII letters, digits, full stops, hyphens and underscores.
    public var containerIdentifier: String?
    /// Where edit dates come from.
    public var editDates = EditDates.recordField
    /// How long the first unsent edit waits for others, so that edits made in quick succession share a
    /// request.
    ///
    /// The delay starts with the first edit; later edits don't restart it. Retries, resolved conflicts and
    /// ``SyncEngine/sync()`` don't wait. In a test on a manual clock, set it to zero or advance the clock. At
    /// most a minute.
    public var sendDelay: Duration = .milliseconds(300)
    /// The time between fetches if nothing else triggers one; `nil` turns polling off.
    ///
    /// 1 second to 365 days.
    public var pollInterval: Duration? = .seconds(300)
    /// How long a request may take before its response counts as lost; above zero and at most a day.
    public var requestDeadline: Duration = .seconds(60)
    /// What happens to the records on this device when their user signs out or another user signs in.
    ///
    /// The engine doesn't deliver removed records as `.deleted`, since they are still in the cloud: the
    /// streams restart with ``ModelChange/reset`` and deliver what is left.
    public var onSignOut = OnSignOut.keep
    /// Called for every event on any thread; it must return quickly.
    public var logHandler: (@Sendable (SyncEvent) -> Void)?
    /// The engine's clock.
    public var clock: any SyncClock = SystemClock()

    /// The maximum number of records in a page of a fetch; `nil` means the database's default.
    package var fetchPageSize: Int?
    /// The seed of the random numbers; a different one for each engine unless a test sets it.
    package var seed: UInt64?
    /// The file system; the system's own unless a test sets another.
    package var fileSystem: (any FileSystem)?
    /// The size from which the state's files are compacted if that saves enough space; a test may lower it.
    package var compactionSize: UInt64 = JSONStateStore.compactionSize
    /// Called with the machine after each input, in tests and simulations.
    package var inspector: (@Sendable (SyncStateMachine) -> Void)?

    /// Creates a configuration with the default settings.
    public init() {}
}
