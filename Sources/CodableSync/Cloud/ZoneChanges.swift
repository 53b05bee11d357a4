public import RecordCoding

/// One page of a zone's change feed.
public struct ZoneChanges: Sendable, Equatable {
    /// A deleted record.
    public struct Deletion: Hashable, Sendable {
        /// The record's name and zone.
        public var recordID: RecordID
        /// The record's type.
        public var recordType: String

        /// Creates a deletion.
        ///
        /// - Parameters:
        ///   - recordID: The record's name and zone.
        ///   - recordType: The record's type.
        public init(recordID: RecordID, recordType: String) {
            self.recordID = recordID
            self.recordType = recordType
        }
    }

    /// The changed records in their newest versions, or why one could not be read.
    public var modifications: [RecordID: Result<Record, CloudError>]
    /// The deleted records.
    ///
    /// A page is unordered: if a record is also in ``modifications``, the engine looks it up.
    public var deletions: [Deletion]
    /// The change token after this page, from which a client can continue even if a later page fails.
    public var changeToken: ChangeToken
    /// Whether there is another page.
    public var moreComing: Bool

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - modifications: The changed records.
    ///   - deletions: The deleted records.
    ///   - changeToken: The change token after this page.
    ///   - moreComing: Whether there is another page.
    public init(
        modifications: [RecordID: Result<Record, CloudError>],
        deletions: [Deletion],
        changeToken: ChangeToken,
        moreComing: Bool
    ) {
        self.modifications = modifications
        self.deletions = deletions
        self.changeToken = changeToken
        self.moreComing = moreComing
    }
}

/// One page of a database's change feed: the zones with changes.
public struct DatabaseChanges: Sendable, Equatable {
    /// A lost zone and the reason.
    public struct Deletion: Hashable, Sendable {
        /// Why a zone was lost.
        #if hasAttribute(nonexhaustive)
            @nonexhaustive
        #endif
        public enum Reason: String, Hashable, Sendable, Codable {
            /// A client deleted it.
            case deleted
            /// The user removed the app's data in the system's settings.
            case purged
            /// The user reset the key of encrypted data; the server's copy can no longer be read.
            case encryptedDataReset
        }

        /// The zone.
        public var zoneID: ZoneID
        /// Why the zone was lost.
        public var reason: Reason

        /// Creates a deletion.
        ///
        /// - Parameters:
        ///   - zoneID: The zone.
        ///   - reason: Why the zone was lost.
        public init(zoneID: ZoneID, reason: Reason) {
            self.zoneID = zoneID
            self.reason = reason
        }
    }

    /// The zones that are new or contain changes, without distinguishing the two.
    public var modifications: [ZoneID]
    /// The lost zones.
    public var deletions: [Deletion]
    /// The change token after this page.
    public var changeToken: ChangeToken
    /// Whether there is another page.
    public var moreComing: Bool

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - modifications: The zones that are new or contain changes.
    ///   - deletions: The lost zones.
    ///   - changeToken: The change token after this page.
    ///   - moreComing: Whether there is another page.
    public init(
        modifications: [ZoneID],
        deletions: [Deletion],
        changeToken: ChangeToken,
        moreComing: Bool
    ) {
        self.modifications = modifications
        self.deletions = deletions
        self.changeToken = changeToken
        self.moreComing = moreComing
    }
}
