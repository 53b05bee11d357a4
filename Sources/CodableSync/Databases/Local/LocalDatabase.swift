public import struct Foundation.URL

/// A database in a directory on this computer that follows CloudKit's rules: for development, tools, and machines
/// without a cloud.
///
/// Several processes can use one directory; they see each other's changes within a quarter of a second. Saved
/// changes survive a crash and a power loss. Each user name has its own database in the directory.
///
/// ```swift
/// let engine = SyncEngine<Note>(database: .local)
/// let other = SyncEngine<Note>(database: .local(directory: URL(filePath: "/srv/notes"), user: "alice"))
/// ```
///
/// You can use the database from any task. If a file is damaged, requests fail with an error that names the
/// file and the position, and the file is left unchanged.
///
/// You can restore the whole directory from a backup, preferably while no process uses it. Devices with newer
/// data then upload it again, delete nothing, and emit ``SyncEvent/zoneLost(_:)`` without a reason; records that
/// were deleted since the backup may come back. The exception is a device that did not sync while the directory
/// was opened thousands of times: its change token counts as expired, and records that only it has count as
/// deleted.
///
/// The cloud's identity is in its file `cloud.json`, so you can move the whole directory: states of engines find it again.
/// A directory that is removed and made again is another cloud, and so is the empty mount point of a volume that is not
/// mounted; an engine's state of the former is not opened for it. To
/// start over with the same devices, remove the journal and snapshot files and keep `cloud.json`.
///
/// Processes take turns. If one hangs during its turn, the others' requests fail after 20 seconds with an
/// error that names it, and engines retry them as after a network failure.
///
/// Fields in `RecordCodable.encryptedFields` are stored unencrypted.
///
/// Unlike a ``FakeCloud``, it enforces field types only if it is created to do so; only then do its records name their
/// encrypted fields.
public final class LocalDatabase: CloudDatabase {
    /// The directory.
    public let directory: URL
    /// The user who owns the database.
    public let user: String
    /// What one request may carry.
    public let limits: DatabaseLimits

    package let ledger: LedgerDirectory
    let clock: any SyncClock
    let listeners = LocalListeners()

    /// Creates a connection to a directory; the disk is not accessed before its first use.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it is missing; ``defaultDirectory`` by default.
    ///   - user: The user record name.
    ///   - enforcesSchema: Whether a field keeps the type that it was first saved with, as in CloudKit. A value of
    ///     another type is refused with `invalidArguments`. It must be the same for all processes.
    ///   - clock: The server's clock: it gives modification dates, and times the checks for other processes'
    ///     changes. A test passes the clock of its engines.
    public convenience init(
        directory: URL? = nil,
        user: String = LocalDatabase.defaultUser,
        enforcesSchema: Bool = false,
        clock: any SyncClock = SystemClock()
    ) {
        var options = LedgerOptions()
        options.enforcesSchema = enforcesSchema
        self.init(directory: directory, user: user, options: options, clock: clock)
    }

    /// Creates a connection to a directory with options; the disk is not accessed before its first use.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it is missing; ``defaultDirectory`` by default.
    ///   - user: The user record name.
    ///   - limits: The limits of a request and a database; they must be the same for all processes.
    ///   - options: What it does where CloudKit's behaviour is uncertain; they must be the same for all
    ///     processes.
    ///   - clock: The server's clock.
    @_spi(Server) public convenience init(
        directory: URL? = nil,
        user: String = LocalDatabase.defaultUser,
        limits: LedgerLimits = .cloudKit,
        options: LedgerOptions,
        clock: any SyncClock = SystemClock()
    ) {
        self.init(
            directory: directory ?? Self.defaultDirectory,
            user: user,
            limits: limits,
            options: options,
            fileSystem: LocalFileSystem(),
            clock: clock
        )
    }

    package init(
        directory: URL,
        user: String,
        limits: LedgerLimits = .cloudKit,
        options: LedgerOptions = LedgerOptions(),
        fileSystem: any FileSystem,
        compactionSize: UInt64 = LedgerDirectory.compactionSize,
        clock: any SyncClock
    ) {
        self.directory = directory.absoluteURL.standardizedFileURL
        self.user = user
        self.limits = limits.database
        self.clock = clock
        ledger = LedgerDirectory(
            path: self.directory.path(percentEncoded: false).withoutTrailingSlash,
            limits: limits,
            options: options,
            fileSystem: fileSystem,
            compactionSize: compactionSize
        )
    }

    /// The default user.
    public static let defaultUser = "local"

    /// The random name in the directory's `cloud.json`: a moved directory, a copy and a restored backup stay the same
    /// cloud.
    ///
    /// The first access reads the disk. It makes a new cloud if the directory is empty or missing.
    public var identifier: String {
        get throws { try ledger.identity() }
    }

    /// The private database.
    public var scope: DatabaseScope { .private }

    /// Closes the files when all earlier requests have returned; later ones fail.
    public func close() async {
        listeners.finish()
        await ledger.close()
    }
}

extension CloudDatabase where Self == LocalDatabase {
    /// The database that a user's programs share, in `CodableSync/LocalDatabase` in the user's data
    /// directory.
    public static var local: LocalDatabase { LocalDatabase() }

    /// A database in a directory.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it is missing.
    ///   - user: The user record name.
    /// - Returns: A connection to it.
    public static func local(
        directory: URL,
        user: String = LocalDatabase.defaultUser
    ) -> LocalDatabase {
        LocalDatabase(directory: directory, user: user)
    }

    #if !canImport(CloudKit)
        /// The default database of an engine: ``local``.
        public static var `default`: LocalDatabase { .local }
    #endif
}
