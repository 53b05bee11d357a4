public import struct Foundation.URL

/// A database in a directory of this computer, with the cloud's rules: for development, for tools, and for
/// machines without a cloud.
///
/// Several processes may use one directory, and see each other's changes within a quarter of a second. What was
/// saved survives a kill at any moment and a loss of power. Every user name has a database of its own in it.
///
/// ```swift
/// let engine = SyncEngine<Note>(database: .local)
/// let other = SyncEngine<Note>(database: .local(directory: URL(filePath: "/srv/notes"), user: "alice"))
/// ```
///
/// It may be used from any task. A damaged file stops it with an error that names the file and the place, and is
/// left as it is. You can restore the whole directory from a backup, best while no process uses it. Devices that know
/// newer data then upload it again, delete nothing, and emit ``SyncEvent/zoneLost(_:)`` without a reason; records that
/// were deleted since the backup may come back. Only a device that stayed away for thousands of openings of the
/// directory is treated as one with an expired token, so that what it alone has counts as deleted.
///
/// Processes take turns. If one stops during its turn, the others' requests fail after 20 seconds with an error that
/// names it, and are tried again like after a network failure.
///
/// Unlike a ``FakeCloud``, it enforces the types of fields only if ``LedgerOptions/enforcesSchema`` is `true`.
public final class LocalDatabase: CloudDatabase {
    /// The directory.
    public let directory: URL
    /// The user whose database it is.
    public let user: String
    /// What one request may carry.
    public let limits: DatabaseLimits

    package let ledger: LedgerDirectory
    let clock: any SyncClock
    let listeners = LocalListeners()

    /// Names a directory; the disk is not touched before the first request.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it is missing; ``defaultDirectory`` if left out.
    ///   - user: The user record name.
    ///   - limits: What a request and a database may hold; the same for all who use the directory.
    ///   - options: What it does where CloudKit's behaviour is uncertain; the same for all who use the directory.
    ///   - clock: The server's clock: it gives modification dates, and times the checks for other processes' changes.
    ///     A test passes the clock of its engines.
    public convenience init(
        directory: URL? = nil,
        user: String = LocalDatabase.defaultUser,
        limits: LedgerLimits = .cloudKit,
        options: LedgerOptions = LedgerOptions(),
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

    /// The user of a database for which none is named.
    public static let defaultUser = "local"

    /// The directory's path without symbolic links: whoever uses the same directory uses the same cloud.
    public var identifier: String { LocalFileSystem.canonicalPath(of: ledger.path) }

    /// The private database.
    public var scope: DatabaseScope { .private }

    /// Closes the files when all requests made until now are answered; later ones fail.
    public func close() async {
        listeners.finish()
        await ledger.close()
    }
}

extension CloudDatabase where Self == LocalDatabase {
    /// The directory that a user's programs share: `CodableSync/LocalDatabase` among the user's data.
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
        /// The database of an engine for which none is named: ``local``.
        public static var `default`: LocalDatabase { .local }
    #endif
}
