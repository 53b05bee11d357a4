/// What one request to a database may carry.
///
/// CloudKit's numbers are guidelines that may change (`CKError.Code.limitExceeded`): a client halves and
/// sends again when it is told so.
public struct DatabaseLimits: Hashable, Sendable {
    /// Records in one request, saves and deletions counted together.
    public var maximumItems: Int
    /// Bytes of field data in one request, assets not counted.
    public var maximumBytes: Int
    /// Bytes of field data in one record, assets not counted.
    public var maximumRecordBytes: Int
    /// Records in one page of a fetch.
    public var maximumPageSize: Int

    /// The limits of CloudKit's native protocol.
    public static let cloudKit = DatabaseLimits()

    /// Makes limits; what is left out is CloudKit's.
    ///
    /// - Parameters:
    ///   - maximumItems: Records in one request, 1 or more.
    ///   - maximumBytes: Bytes of field data in one request.
    ///   - maximumRecordBytes: Bytes of field data in one record.
    ///   - maximumPageSize: Records in one page of a fetch, 1 or more.
    public init(
        maximumItems: Int = 400,
        maximumBytes: Int = 2_000_000,
        maximumRecordBytes: Int = 1_000_000,
        maximumPageSize: Int = 200
    ) {
        self.maximumItems = maximumItems
        self.maximumBytes = maximumBytes
        self.maximumRecordBytes = maximumRecordBytes
        self.maximumPageSize = maximumPageSize
    }
}
