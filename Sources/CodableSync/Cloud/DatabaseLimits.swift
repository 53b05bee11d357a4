/// The limits of one request to a database.
///
/// CloudKit's numbers are guidelines that may change (`CKError.Code.limitExceeded`): if the server rejects a
/// request as too large, the client halves it and sends it again.
public struct DatabaseLimits: Hashable, Sendable {
    /// The maximum number of records in one request, including deletions.
    public var maximumItems: Int
    /// The maximum size of the field data in one request in bytes, without assets.
    public var maximumBytes: Int
    /// The maximum size of the field data in one record in bytes, without assets.
    public var maximumRecordBytes: Int
    /// The maximum number of records in one page of a fetch.
    public var maximumPageSize: Int

    /// The limits of CloudKit's native protocol.
    public static let cloudKit = DatabaseLimits()

    /// Creates limits; the defaults are CloudKit's.
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
