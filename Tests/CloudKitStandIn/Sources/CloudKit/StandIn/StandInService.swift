// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of this folder are the stand-in's own: Apple's CloudKit has none of them.

/// What answers the requests of a container: supplied by tests, in the place of iCloud.
///
/// `database` says which of the container's databases is asked, and with which configuration.
public protocol StandInService: Sendable {
    func accountStatus() async throws -> CKAccountStatus

    func userRecordID() async throws -> CKRecord.ID

    func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]?,
        in database: CKDatabase
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>]

    func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy,
        atomically: Bool,
        in database: CKDatabase
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )

    func recordZones(
        for ids: [CKRecordZone.ID],
        in database: CKDatabase
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>]

    func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        in database: CKDatabase
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    )

    func databaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int?,
        in database: CKDatabase
    ) async throws -> (
        modifications: [CKDatabase.DatabaseChange.Modification],
        deletions: [CKDatabase.DatabaseChange.Deletion],
        changeToken: CKServerChangeToken,
        moreComing: Bool
    )

    func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]?,
        resultsLimit: Int?,
        in database: CKDatabase
    ) async throws -> (
        modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion],
        changeToken: CKServerChangeToken,
        moreComing: Bool
    )

    func allSubscriptions(in database: CKDatabase) async throws -> [CKSubscription]

    func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID],
        in database: CKDatabase
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    )
}
