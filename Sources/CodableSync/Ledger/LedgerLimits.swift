/// What a ledger takes in one request and in one database; CloudKit's numbers unless said otherwise.
///
/// ```swift
/// let cloud = FakeCloud(limits: LedgerLimits(maximumItems: 3, maximumPageSize: 2))
/// ```
public struct LedgerLimits: Hashable, Sendable {
    /// Items in one request, saves and deletions counted together; more give `limitExceeded`.
    public var maximumItems: Int
    /// Bytes of field data in one request; more give `limitExceeded`.
    public var maximumBytes: Int
    /// Bytes of field data in one record; a larger one is refused with `limitExceeded`.
    public var maximumRecordBytes: Int
    /// Records, or zones, in one page of a change feed.
    public var maximumPageSize: Int
    /// Zones of one user, the default zone not counted.
    public var maximumZones: Int
    /// References with the action `deleteSelf` that may point at one record.
    public var maximumDeleteSelfReferences: Int
    /// Whether names and values must keep CloudKit's rules; what breaks them gives `invalidArguments`.
    public var checksContents: Bool

    /// The limits of CloudKit's native protocol.
    public static let cloudKit = LedgerLimits()

    /// Makes limits; what is left out is CloudKit's.
    ///
    /// - Parameters:
    ///   - maximumItems: Items in one request.
    ///   - maximumBytes: Bytes of field data in one request.
    ///   - maximumRecordBytes: Bytes of field data in one record.
    ///   - maximumPageSize: Records in one page of a change feed.
    ///   - maximumZones: Zones of one user.
    ///   - maximumDeleteSelfReferences: `deleteSelf` references that may point at one record.
    ///   - checksContents: Whether names and values must keep CloudKit's rules.
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

    /// The part of the limits that a client may ask a database for.
    public var database: DatabaseLimits {
        DatabaseLimits(
            maximumItems: maximumItems,
            maximumBytes: maximumBytes,
            maximumRecordBytes: maximumRecordBytes,
            maximumPageSize: maximumPageSize
        )
    }
}
