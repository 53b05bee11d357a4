import CloudKit
import CodableSync
import Foundation

extension FakeCloudKit {
    typealias RecordResults = [CKRecord.ID: Result<CKRecord, any Error>]
    typealias PageResults = [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>]

    func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]?,
        in database: CKDatabase
    ) async throws -> RecordResults {
        let answer = try await native {
            try await device.records(for: ids.map { server($0) }, desiredKeys: desiredKeys)
        }
        var results: RecordResults = [:]
        for id in ids { results[id] = answer[server(id)].map { native($0) { native($0) } } }
        try throwItemErrors(results.compactMapValues(\.failure))
        try changeResults.with { $0 }?(&results)
        return results
    }

    func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy,
        atomically: Bool,
        in database: CKDatabase
    ) async throws -> (
        saveResults: RecordResults,
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        log.with { log in
            log.qualities.append(database.standInQualityOfService)
            log.timeouts.append(database.standInResourceTimeout)
            for record in recordsToSave {
                log.changedKeys[record.recordID.recordName, default: []].append(record.changedKeys())
            }
        }
        let policy: SavePolicy =
            switch savePolicy {
            case .ifServerRecordUnchanged: .ifServerRecordUnchanged
            case .changedKeys: .changedKeys
            case .allKeys: .allKeys
            }
        let answer = try await native {
            try await device.modifyRecords(
                saving: recordsToSave.map { try server($0, savePolicy: savePolicy) },
                deleting: recordIDsToDelete.map { server($0) },
                savePolicy: policy,
                atomically: atomically
            )
        }
        var saves: RecordResults = [:]
        for record in recordsToSave {
            saves[record.recordID] = answer.saveResults[server(record.recordID)].map {
                native($0) { native($0) }
            }
        }
        var deletions: [CKRecord.ID: Result<Void, any Error>] = [:]
        for id in recordIDsToDelete {
            deletions[id] = answer.deleteResults[server(id)].map { native($0) }
        }
        try throwItemErrors(
            saves.compactMapValues(\.failure).merging(deletions.compactMapValues(\.failure)) { first, _ in
                first
            }
        )
        try changeResults.with { $0 }?(&saves)
        return (saves, deletions)
    }

    func recordZones(
        for ids: [CKRecordZone.ID],
        in database: CKDatabase
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        let answer = try await native { try await device.recordZones(for: ids.map { server($0) }) }
        var results: [CKRecordZone.ID: Result<CKRecordZone, any Error>] = [:]
        for id in ids {
            results[id] = answer[server(id)].map { native($0) { CKRecordZone(zoneID: native($0.zoneID)) } }
        }
        try throwItemErrors(results.compactMapValues(\.failure))
        return results
    }

    func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        in database: CKDatabase
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        let answer = try await native {
            try await device.modifyRecordZones(
                saving: recordZonesToSave.map { RecordZone(zoneID: server($0.zoneID)) },
                deleting: recordZoneIDsToDelete.map { server($0) }
            )
        }
        var saves: [CKRecordZone.ID: Result<CKRecordZone, any Error>] = [:]
        for zone in recordZonesToSave {
            saves[zone.zoneID] = answer.saveResults[server(zone.zoneID)].map {
                native($0) { CKRecordZone(zoneID: native($0.zoneID)) }
            }
        }
        var deletions: [CKRecordZone.ID: Result<Void, any Error>] = [:]
        for id in recordZoneIDsToDelete {
            deletions[id] = answer.deleteResults[server(id)].map { native($0) }
        }
        try throwItemErrors(
            saves.compactMapValues(\.failure).merging(deletions.compactMapValues(\.failure)) { first, _ in
                first
            }
        )
        return (saves, deletions)
    }

    func allSubscriptions(in database: CKDatabase) async throws -> [CKSubscription] {
        log.with { $0.requests.append("allSubscriptions") }
        let found = try await native { try await device.allSubscriptions() }
        let foreign = [CKSubscription.standIn(ofAnotherKind: "the app's own")]
        return foreign
            + found.map { subscription in
                switch subscription.kind {
                case .database: CKDatabaseSubscription(subscriptionID: subscription.subscriptionID)
                case .zone(let zoneID):
                    CKRecordZoneSubscription(
                        zoneID: native(zoneID),
                        subscriptionID: subscription.subscriptionID
                    )
                }
            }
    }

    func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID],
        in database: CKDatabase
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    ) {
        let converted = try subscriptionsToSave.map { subscription in
            // CloudKit refuses a subscription whose pushes would be empty.
            guard subscription.notificationInfo?.shouldSendContentAvailable == true else {
                throw CKError(.invalidArguments)
            }
            log.with { $0.subscriptions.append(subscription.subscriptionID) }
            let zoneID = (subscription as? CKRecordZoneSubscription)?.zoneID
            return CloudSubscription(
                subscriptionID: subscription.subscriptionID,
                kind: zoneID.map { .zone(server($0)) } ?? .database
            )
        }
        let answer = try await native {
            try await device.modifySubscriptions(saving: converted, deleting: subscriptionIDsToDelete)
        }
        var saves: [CKSubscription.ID: Result<CKSubscription, any Error>] = [:]
        for subscription in subscriptionsToSave {
            saves[subscription.subscriptionID] = answer.saveResults[subscription.subscriptionID].map {
                native($0) { _ in subscription }
            }
        }
        var deletions: [CKSubscription.ID: Result<Void, any Error>] = [:]
        for id in subscriptionIDsToDelete { deletions[id] = answer.deleteResults[id].map { native($0) } }
        try throwItemErrors(
            saves.compactMapValues(\.failure).merging(deletions.compactMapValues(\.failure)) { first, _ in
                first
            }
        )
        return (saves, deletions)
    }

    // MARK: Feeds

    func databaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int?,
        in database: CKDatabase
    ) async throws -> (
        modifications: [CKDatabase.DatabaseChange.Modification],
        deletions: [CKDatabase.DatabaseChange.Deletion],
        changeToken: CKServerChangeToken,
        moreComing: Bool
    ) {
        let page = try await native {
            try await device.databaseChanges(
                since: changeToken.map { ChangeToken($0.standInData) },
                resultsLimit: resultsLimit
            )
        }
        return (
            page.modifications.map { .init(standIn: native($0)) },
            page.deletions.map { deletion in
                let reason: CKDatabase.DatabaseChange.Deletion.Reason =
                    switch deletion.reason {
                    case .deleted: .deleted
                    case .purged: .purged
                    case .encryptedDataReset: .encryptedDataReset
                    }
                return .init(standIn: native(deletion.zoneID), reason: reason)
            },
            CKServerChangeToken(standIn: page.changeToken.data),
            page.moreComing
        )
    }

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
    ) {
        log.with { $0.fetchQualities.append(database.standInQualityOfService) }
        let page: ZoneChanges
        do {
            page = try await native {
                try await device.recordZoneChanges(
                    inZoneWith: server(zoneID),
                    since: changeToken.map { ChangeToken($0.standInData) },
                    desiredKeys: desiredKeys,
                    resultsLimit: resultsLimit
                )
            }
        } catch let error as CKError where differences.wrapsZoneErrors {
            let errors: [AnyHashable: any Error] = [zoneID: error]
            throw CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: errors])
        }
        var modifications: PageResults = [:]
        for (id, result) in page.modifications {
            modifications[native(id)] = native(result) { .init(standIn: native($0)) }
        }
        changePage.with { $0 }?(&modifications)
        return (
            modifications,
            page.deletions.map { .init(standIn: native($0.recordID), recordType: $0.recordType) },
            CKServerChangeToken(standIn: page.changeToken.data),
            page.moreComing
        )
    }

    // MARK: Results

    private func native<Value, Native>(
        _ result: Result<Value, CloudError>,
        _ convert: (Value) -> Native
    ) -> Result<Native, any Error> {
        switch result {
        case .success(let value): .success(convert(value))
        case .failure(let error): .failure(native(error))
        }
    }

    private func native(_ error: CloudError?) -> Result<Void, any Error> {
        error.map { .failure(native($0)) } ?? .success(())
    }

    /// Throws the errors of items together, where CloudKit does so.
    private func throwItemErrors<ID: Hashable>(_ errors: [ID: any Error]) throws {
        guard differences.throwsItemErrors, !errors.isEmpty else { return }
        var listed: [AnyHashable: any Error] = [:]
        for (id, error) in errors {
            let isSibling = (error as? CKError)?.code == .batchRequestFailed
            if differences.listsSiblings || !isSibling { listed[id] = error }
        }
        throw CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: listed])
    }
}
