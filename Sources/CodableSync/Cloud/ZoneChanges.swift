public import RecordCoding

/// One page of a zone's change feed.
public struct ZoneChanges: Sendable, Equatable {
    /// A record that is gone.
    public struct Deletion: Hashable, Sendable {
        /// The record's name and zone.
        public var recordID: RecordID
        /// The type that it had.
        public var recordType: String

        /// Makes a deletion.
        ///
        /// - Parameters:
        ///   - recordID: The record's name and zone.
        ///   - recordType: The type that it had.
        public init(recordID: RecordID, recordType: String) {
            self.recordID = recordID
            self.recordType = recordType
        }
    }

    /// The records that changed, each once, in its newest version; or why one could not be read.
    public var modifications: [RecordID: Result<Record, CloudError>]
    /// The records that are gone.
    ///
    /// A page has no order: one that is among ``modifications`` too is looked up by the engine, and the record decides.
    public var deletions: [Deletion]
    /// The position after this page; a valid place to go on from even if a later page fails.
    public var changeToken: ChangeToken
    /// Whether there is another page.
    public var moreComing: Bool

    /// Makes a page.
    ///
    /// - Parameters:
    ///   - modifications: The records that changed.
    ///   - deletions: The records that are gone.
    ///   - changeToken: The position after this page.
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

/// One page of a database's change feed: the zones in which something happened.
public struct DatabaseChanges: Sendable, Equatable {
    /// A zone that is gone, and why.
    public struct Deletion: Hashable, Sendable {
        /// Why a zone is gone.
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
        /// Why it is gone.
        public var reason: Reason

        /// Makes a deletion.
        ///
        /// - Parameters:
        ///   - zoneID: The zone.
        ///   - reason: Why it is gone.
        public init(zoneID: ZoneID, reason: Reason) {
            self.zoneID = zoneID
            self.reason = reason
        }
    }

    /// The zones that are new or hold changes; it is not said which.
    public var modifications: [ZoneID]
    /// The zones that are gone.
    public var deletions: [Deletion]
    /// The position after this page.
    public var changeToken: ChangeToken
    /// Whether there is another page.
    public var moreComing: Bool

    /// Makes a page.
    ///
    /// - Parameters:
    ///   - modifications: The zones that are new or hold changes.
    ///   - deletions: The zones that are gone.
    ///   - changeToken: The position after this page.
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
