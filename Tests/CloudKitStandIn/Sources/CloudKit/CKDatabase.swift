// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

open class CKDatabase: NSObject, @unchecked Sendable {
    // Sendable is correct: there are only constants.
    public enum Scope: Int, Sendable {
        case `public` = 1
        case `private` = 2
        case shared = 3
    }

    public let databaseScope: CKDatabase.Scope
    private let service: any StandInService
    let configuration: CKOperation.Configuration?

    init(
        service: any StandInService,
        scope: CKDatabase.Scope,
        configuration: CKOperation.Configuration?
    ) {
        self.service = service
        databaseScope = scope
        self.configuration = configuration
    }

    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: (CKDatabase) throws -> R
    ) rethrows -> R {
        try body(CKDatabase(service: service, scope: databaseScope, configuration: configuration))
    }

    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: @Sendable (CKDatabase) async throws -> R
    ) async rethrows -> R {
        try await body(CKDatabase(service: service, scope: databaseScope, configuration: configuration))
    }
}

extension CKDatabase {
    public func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await service.records(for: ids, desiredKeys: desiredKeys, in: self)
    }

    public func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        StandIn.check(unique: recordsToSave.map(\.recordID) + recordIDsToDelete)
        return try await service.modifyRecords(
            saving: recordsToSave,
            deleting: recordIDsToDelete,
            savePolicy: savePolicy,
            atomically: atomically,
            in: self
        )
    }

    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await service.recordZones(for: ids, in: self)
    }

    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        StandIn.check(unique: recordZonesToSave.map(\.zoneID) + recordZoneIDsToDelete)
        return try await service.modifyRecordZones(
            saving: recordZonesToSave,
            deleting: recordZoneIDsToDelete,
            in: self
        )
    }

    public func databaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil
    ) async throws -> (
        modifications: [CKDatabase.DatabaseChange.Modification],
        deletions: [CKDatabase.DatabaseChange.Deletion],
        changeToken: CKServerChangeToken,
        moreComing: Bool
    ) {
        try await service.databaseChanges(since: changeToken, resultsLimit: resultsLimit, in: self)
    }

    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil
    ) async throws -> (
        modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion],
        changeToken: CKServerChangeToken,
        moreComing: Bool
    ) {
        try await service.recordZoneChanges(
            inZoneWith: zoneID,
            since: changeToken,
            desiredKeys: desiredKeys,
            resultsLimit: resultsLimit,
            in: self
        )
    }

    @discardableResult
    public func allSubscriptions() async throws -> [CKSubscription] {
        try await service.allSubscriptions(in: self)
    }

    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID]
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    ) {
        StandIn.check(unique: subscriptionsToSave.map(\.subscriptionID) + subscriptionIDsToDelete)
        return try await service.modifySubscriptions(
            saving: subscriptionsToSave,
            deleting: subscriptionIDsToDelete,
            in: self
        )
    }
}

extension CKDatabase {
    public enum DatabaseChange {
        public struct Modification: Hashable, Sendable {
            public let zoneID: CKRecordZone.ID
        }

        public struct Deletion: Hashable, Sendable {
            public enum Reason: Hashable, Sendable {
                case deleted
                case purged
                case encryptedDataReset
            }

            public let zoneID: CKRecordZone.ID
            public let reason: Reason
        }
    }

    public enum RecordZoneChange {
        public struct Modification: Hashable, Sendable {
            public let record: CKRecord
        }

        public struct Deletion: Hashable, Sendable {
            public let recordID: CKRecord.ID
            public let recordType: CKRecord.RecordType
        }
    }
}
