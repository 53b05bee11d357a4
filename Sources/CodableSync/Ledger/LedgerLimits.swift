/// The limits of a request and a database; CloudKit's numbers by default.
///
/// ```swift
/// let ledger = CloudLedger(identifier: "cloud", limits: LedgerLimits(maximumItems: 3, maximumPageSize: 2))
/// ```
@_spi(Server) public struct LedgerLimits: Hashable, Sendable {
    /// The maximum number of items in one request, including deletions; more give `limitExceeded`.
    public var maximumItems: Int
    /// The maximum size of the field data in one request in bytes; more give `limitExceeded`.
    public var maximumBytes: Int
    /// The maximum size of the field data in one record in bytes; a larger one is refused with
    /// `limitExceeded`.
    public var maximumRecordBytes: Int
    /// The maximum number of records or zones in one page of a change feed.
    public var maximumPageSize: Int
    /// The maximum number of a user's zones, without the default zone.
    public var maximumZones: Int
    /// The maximum number of references with the action `deleteSelf` that may point at one record.
    public var maximumDeleteSelfReferences: Int
    /// Whether names and values must follow CloudKit's rules; if not, they are refused with
    /// `invalidArguments`.
    public var checksContents: Bool

    /// The limits of CloudKit's native protocol.
    public static let cloudKit = LedgerLimits()

    /// Creates limits; the defaults are CloudKit's.
    ///
    /// - Parameters:
    ///   - maximumItems: Items in one request.
    ///   - maximumBytes: Bytes of field data in one request.
    ///   - maximumRecordBytes: Bytes of field data in one record.
    ///   - maximumPageSize: Records in one page of a change feed.
    ///   - maximumZones: Zones of one user.
    ///   - maximumDeleteSelfReferences: `deleteSelf` references that may point at one record.
    ///   - checksContents: Whether names and values must follow CloudKit's rules.
    public init(
        maximumItems: Int = 400,
        maximumBytes: Int = 2_000_000,
        maximumRecordBytes: Int = 1_000_000,
        maximumPageSize: Int = 200,
        maximumZones: Int = 1000,
        maximumDeleteSelfReferences: Int = 750,
        checksContents: Bool = true
    ) {
        self.maximumItems = maximumItems
        self.maximumBytes = maximumBytes
        self.maximumRecordBytes = maximumRecordBytes
        self.maximumPageSize = maximumPageSize
        self.maximumZones = maximumZones
        self.maximumDeleteSelfReferences = maximumDeleteSelfReferences
        self.checksContents = checksContents
    }

    /// The limits that clients can see.
    public var database: DatabaseLimits {
        get {
            DatabaseLimits(
                maximumItems: maximumItems,
                maximumBytes: maximumBytes,
                maximumRecordBytes: maximumRecordBytes,
                maximumPageSize: maximumPageSize
            )
        }
        set {
            maximumItems = newValue.maximumItems
            maximumBytes = newValue.maximumBytes
            maximumRecordBytes = newValue.maximumRecordBytes
            maximumPageSize = newValue.maximumPageSize
        }
    }
}
