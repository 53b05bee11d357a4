/// The limits of a request and a database; CloudKit's numbers by default.
///
/// ```swift
/// let ledger = CloudLedger(identifier: "cloud", limits: LedgerLimits(maximumItems: 3, maximumPageSize: 2))
/// ```
@_spi(Server) public struct LedgerLimits: Hashable, Sendable {
    /// The limits that clients can see; a larger request or record is refused with `limitExceeded`.
    public var database: DatabaseLimits
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
        database = DatabaseLimits(
            maximumItems: maximumItems,
            maximumBytes: maximumBytes,
            maximumRecordBytes: maximumRecordBytes,
            maximumPageSize: maximumPageSize
        )
        self.maximumZones = maximumZones
        self.maximumDeleteSelfReferences = maximumDeleteSelfReferences
        self.checksContents = checksContents
    }
}
