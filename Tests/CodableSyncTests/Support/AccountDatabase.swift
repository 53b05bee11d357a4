import Foundation

@testable import CodableSync

/// A connection whose account a test changes, in front of any cloud; it notes what each user's server
/// receives.
final class AccountDatabase: CloudDatabase {
    /// The contents of one request to a user's server.
    struct Told: Sendable {
        var user: String
        var names: [String] = []
        var fields: [String: RecordValue] = [:]
        var tags: [String] = []
        var token: ChangeToken?
        var zonesToSave: [ZoneID] = []
    }

    private struct State {
        var user: String?
        var status: AccountStatus
        var generation = 0
        var lookUpFailures: [CloudError] = []
        var told: [Told] = []
        var lookUps = 0
        var connections: [String: any CloudDatabase] = [:]
    }

    private let state: Locked<State>
    private let signalHub = Broadcaster<CloudSignal>(limit: 1000, replaysLatest: false)
    private let connect: @Sendable (String) -> any CloudDatabase
    private let sample: any CloudDatabase

    init(user: String?, connect: @escaping @Sendable (String) -> any CloudDatabase) {
        self.connect = connect
        sample = connect(user ?? "nobody")
        state = Locked(State(user: user, status: user == nil ? .noAccount : .available))
    }

    // MARK: The account

    /// Signs a user in; without a signal, the engine is not notified.
    func signIn(_ user: String, signal: Bool = true) {
        change(signal: signal) { state in
            state.user = user
            state.status = .available
        }
    }

    func signOut(signal: Bool = true) {
        change(signal: signal) { state in
            state.user = nil
            state.status = .noAccount
        }
    }

    func set(_ status: AccountStatus, signal: Bool = true) {
        change(signal: signal) { $0.status = status }
    }

    func failLookUps(_ code: CloudError.Code, times: Int) {
        state.withLock { $0.lookUpFailures += Array(repeating: CloudError(code), count: times) }
    }

    func emit(_ signal: CloudSignal) { signalHub.send(signal) }

    private func change(signal: Bool, _ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            if signal { state.generation += 1 }
        }
        if signal { emit(.accountChanged) }
    }

    // MARK: Recorded requests

    func told(_ user: String) -> [Told] { state.withLock { $0.told.filter { $0.user == user } } }

    var lookUps: Int { state.withLock { $0.lookUps } }

    /// The database of a user, regardless of the account.
    func server(of user: String) -> any CloudDatabase {
        state.withLock { state in
            let connection = state.connections[user] ?? connect(user)
            state.connections[user] = connection
            return connection
        }
    }

    private func ask(_ change: (inout Told) -> Void) throws -> any CloudDatabase {
        let (user, status) = state.withLock { ($0.user, $0.status) }
        guard status == .available, let user else {
            throw CloudError(
                status == .temporarilyUnavailable ? .accountTemporarilyUnavailable : .notAuthenticated
            )
        }
        var told = Told(user: user)
        change(&told)
        state.withLock { $0.told.append(told) }
        return server(of: user)
    }

    // MARK: CloudDatabase

    var identifier: String { get throws { try sample.identifier } }
    var scope: DatabaseScope { .private }
    var limits: DatabaseLimits { sample.limits }
    var isInMemory: Bool { sample.isInMemory }
    var accountGeneration: Int { state.withLock { $0.generation } }

    var signals: AsyncStream<CloudSignal> { signalHub.stream {} }

    /// The number of listeners for signals.
    var listenerCount: Int { signalHub.now.count }

    func accountStatus() async throws -> AccountStatus {
        try state.withLock { state in
            state.lookUps += 1
            if !state.lookUpFailures.isEmpty { throw state.lookUpFailures.removeFirst() }
            return state.status
        }
    }

    func userRecordName() async throws -> String {
        guard let user = state.withLock({ $0.user }) else { throw CloudError(.notAuthenticated) }
        return user
    }

    func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult {
        let server = try ask { told in
            told.names = (recordsToSave.map(\.recordID) + recordIDsToDelete).map(\.recordName)
            for record in recordsToSave { told.fields.merge(record.fields) { $1 } }
            told.tags = recordsToSave.compactMap(\.recordChangeTag)
        }
        return try await server.modifyRecords(
            saving: recordsToSave,
            deleting: recordIDsToDelete,
            savePolicy: savePolicy,
            atomically: atomically
        )
    }

    func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        try await ask { $0.names = ids.map(\.recordName) }.records(for: ids, desiredKeys: desiredKeys)
    }

    func modifyRecordZones(
        saving zonesToSave: [RecordZone],
        deleting zoneIDsToDelete: [ZoneID]
    ) async throws -> ModifyZonesResult {
        try await ask { $0.zonesToSave = zonesToSave.map(\.zoneID) }
            .modifyRecordZones(saving: zonesToSave, deleting: zoneIDsToDelete)
    }

    func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<RecordZone, CloudError>] {
        try await ask { _ in }.recordZones(for: ids)
    }

    func databaseChanges(since token: ChangeToken?, resultsLimit: Int?) async throws -> DatabaseChanges {
        try await ask { $0.token = token }.databaseChanges(since: token, resultsLimit: resultsLimit)
    }

    func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since token: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges {
        try await ask { $0.token = token }.recordZoneChanges(
            inZoneWith: zoneID,
            since: token,
            desiredKeys: desiredKeys,
            resultsLimit: resultsLimit
        )
    }

    func modifySubscriptions(
        saving subscriptions: [CloudSubscription],
        deleting ids: [String]
    ) async throws -> ModifySubscriptionsResult {
        try await ask { _ in }.modifySubscriptions(saving: subscriptions, deleting: ids)
    }
}

extension AccountDatabase: SignalTracking {
    var areSignalsTaken: Bool { signalHub.now.isTaken }

    func waitUntilSignalsAreTaken() async { await signalHub.wait { $0.isTaken } }
}
