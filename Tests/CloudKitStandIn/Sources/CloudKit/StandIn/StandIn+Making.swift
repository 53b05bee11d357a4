// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// What only the server makes, and what only it sees.

extension CKRecord {
    /// Sets what the server sets, and marks every field as unchanged.
    public func standInSetSystemFields(
        recordChangeTag: String,
        creationDate: Date?,
        modificationDate: Date?,
        creator: CKRecord.ID?,
        modifier: CKRecord.ID?
    ) {
        self.recordChangeTag = recordChangeTag
        self.creationDate = creationDate
        self.modificationDate = modificationDate
        creatorUserRecordID = creator
        lastModifiedUserRecordID = modifier
        values.changed = []
        encrypted.changed = []
    }
}

extension CKRecord {
    /// Makes each of the two views list the keys of both, which no documentation excludes.
    public func standInListKeysOfBothViews() {
        let keys = allKeys() + encryptedValues.allKeys()
        values.listsMore = keys
        encrypted.listsMore = keys
    }
}

extension CKRecord {
    /// Makes the encrypted view also list and return what is not encrypted, which no documentation excludes.
    public func standInShowPlainValuesAsEncrypted() {
        encrypted.listsMore = allKeys()
        encrypted.showsMore = values
    }
}

extension CKError {
    /// An error with a code that this version of CloudKit has no name for.
    public init(standInCode number: Int) { self.init(standInCode: number, [:]) }
}

extension CKDatabase {
    /// The quality of service of a request.
    public var standInQualityOfService: QualityOfService? { configuration?.qualityOfService }
    /// The time after which CloudKit gives a request up, in seconds; negative if it does not.
    public var standInResourceTimeout: TimeInterval? { configuration?.timeoutIntervalForResource }
}

extension CKServerChangeToken {
    public convenience init(standIn data: Data) { self.init(data: data) }

    public var standInData: Data { data }
}

extension CKDatabase.DatabaseChange.Modification {
    public init(standIn zoneID: CKRecordZone.ID) { self.init(zoneID: zoneID) }
}

extension CKDatabase.DatabaseChange.Deletion {
    public init(standIn zoneID: CKRecordZone.ID, reason: Reason) {
        self.init(zoneID: zoneID, reason: reason)
    }
}

extension CKDatabase.RecordZoneChange.Modification {
    public init(standIn record: CKRecord) { self.init(record: record) }
}

extension CKDatabase.RecordZoneChange.Deletion {
    public init(standIn recordID: CKRecord.ID, recordType: CKRecord.RecordType) {
        self.init(recordID: recordID, recordType: recordType)
    }
}

extension CKSubscription {
    /// A subscription of a kind that the adapter does not make, such as one to the results of a query.
    public static func standIn(ofAnotherKind subscriptionID: String) -> CKSubscription {
        CKSubscription(subscriptionID: subscriptionID)
    }
}
