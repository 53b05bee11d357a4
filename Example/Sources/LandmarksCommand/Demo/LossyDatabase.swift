import CodableSync
import Foundation
import RecordCoding

/// A device's line to the cloud: it goes dead on demand, after the cloud has done what it was asked to and before
/// the answer arrives.
final class LossyDatabase: CloudDatabase {
    private enum Line {
        case open
        /// It goes dead in this many answers to saves.
        case dying(answers: Int)
        case dead
    }

    private let cloud: LocalDatabase
    private let line = Guarded(Line.open)
    let limits: DatabaseLimits

    /// Makes a line.
    ///
    /// - Parameters:
    ///   - cloud: Where it leads.
    ///   - maximumItems: The most records in one request.
    init(_ cloud: LocalDatabase, maximumItems: Int) {
        self.cloud = cloud
        var limits = cloud.limits
        limits.maximumItems = maximumItems
        self.limits = limits
    }

    /// Loses the answer to one of the next saves, and all that comes after it.
    func loseAnswer(ofSave number: Int) {
        line.withLock { $0 = .dying(answers: number) }
    }

    func repair() {
        line.withLock { $0 = .open }
    }

    private func checkLine() throws {
        if case .dead = line.withLock({ $0 }) { throw CloudError(.networkUnavailable) }
    }

    private func deliverAnswer() throws {
        try line.withLock { line in
            guard case .dying(let answers) = line else { return }
            line = answers > 1 ? .dying(answers: answers - 1) : .dead
            if case .dead = line { throw CloudError(.serverResponseLost) }
        }
    }

    // MARK: CloudDatabase

    var identifier: String { cloud.identifier }
    var scope: DatabaseScope { cloud.scope }
    var signals: AsyncStream<CloudSignal> { cloud.signals }

    func accountStatus() async throws -> AccountStatus {
        try checkLine()
        return try await cloud.accountStatus()
    }

    func userRecordName() async throws -> String {
        try checkLine()
        return try await cloud.userRecordName()
    }

    func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult {
        try checkLine()
        let result = try await cloud.modifyRecords(
            saving: recordsToSave,
            deleting: recordIDsToDelete,
            savePolicy: savePolicy,
            atomically: atomically
        )
        try deliverAnswer()
        return result
    }

    func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        try checkLine()
        return try await cloud.records(for: ids, desiredKeys: desiredKeys)
    }

    func modifyRecordZones(
        saving zonesToSave: [RecordZone],
        deleting zoneIDsToDelete: [ZoneID]
    ) async throws -> ModifyZonesResult {
        try checkLine()
        return try await cloud.modifyRecordZones(saving: zonesToSave, deleting: zoneIDsToDelete)
    }

    func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<RecordZone, CloudError>] {
        try checkLine()
        return try await cloud.recordZones(for: ids)
    }

    func databaseChanges(
        since changeToken: ChangeToken?,
        resultsLimit: Int?
    ) async throws -> DatabaseChanges {
        try checkLine()
        return try await cloud.databaseChanges(since: changeToken, resultsLimit: resultsLimit)
    }

    func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges {
        try checkLine()
        return try await cloud.recordZoneChanges(
            inZoneWith: zoneID,
            since: changeToken,
            desiredKeys: desiredKeys,
            resultsLimit: resultsLimit
        )
    }

    func modifySubscriptions(
        saving subscriptionsToSave: [CloudSubscription],
        deleting subscriptionIDsToDelete: [String]
    ) async throws -> ModifySubscriptionsResult {
        try checkLine()
        return try await cloud.modifySubscriptions(
            saving: subscriptionsToSave,
            deleting: subscriptionIDsToDelete
        )
    }
}
