import CodableSync
import Foundation

/// A connection to any database that fails, loses, holds back or changes answers as a test says.
///
/// The fake can do this by itself; this type does it in front of every database, so that one suite of
/// scenarios runs on all of them.
final class ScriptedDatabase: ForwardingDatabase, @unchecked Sendable {
    // Sendable because all mutable state is in `script`, which has a lock.

    enum Operation: String, Sendable, CaseIterable {
        case account, zones, subscriptions, databaseChanges, fetch, lookUp, modify
    }

    /// What happens to a request instead of its usual processing.
    enum Fault: Sendable {
        /// Fails without being applied.
        case fail(CloudError)
        /// Is applied, and its answer is lost.
        case loseAnswer
        /// Waits for the gate before it is applied.
        case holdBefore(Gate)
        /// Is applied immediately; the answer waits for the gate.
        case holdAfter(Gate)
    }

    /// A modify request, as it was sent.
    struct Modify: Sendable {
        var saves: [Record]
        var deletions: [String]

        var names: [String] { saves.map(\.recordID.recordName) + deletions }
        var bytes: Int { saves.reduce(0) { $0 + $1.size } }
    }

    private struct Script {
        var faults: [Operation: [Fault]] = [:]
        var standing: [Operation: CloudError] = [:]
        var itemErrors: [String: [CloudError]] = [:]
        var standingItemErrors: [String: CloudError] = [:]
        var requestErrors: [String: CloudError] = [:]
        var running: [Operation: Int] = [:]
        var peaks: [Operation: Int] = [:]
        var modifies: [Modify] = []
        var counts: [Operation: Int] = [:]
        var modifyTransform: (@Sendable (ModifyRecordsResult) -> ModifyRecordsResult)?
        var fetchTransform: (@Sendable (ZoneChanges) -> ZoneChanges)?
        var ignoresTokens = false
        var askedTokens: [ChangeToken?] = []
        var givenTokens: [ChangeToken] = []
        var account: CloudError?
        var status: AccountStatus?
        var limits: DatabaseLimits?
        var maximumAccepted: Int?
        var losesSignals = false
        var lostSignals: [AsyncStream<CloudSignal>.Continuation] = []
    }

    private let script = Locked(Script())

    // MARK: Scripting

    func plan(_ operation: Operation, _ faults: Fault...) {
        script.withLock { $0.faults[operation, default: []] += faults }
    }

    /// Removes planned actions that have not happened yet.
    func clearPlans() {
        script.withLock { $0.faults = [:] }
    }

    /// Removes planned failures of items.
    func clearItemFaults() {
        script.withLock { $0.itemErrors = [:] }
    }

    func failNext(
        _ operation: Operation,
        _ code: CloudError.Code,
        times: Int = 1,
        retryAfter: Duration? = nil
    ) {
        script.withLock { script in
            let error = CloudError(code, retryAfter: retryAfter)
            script.faults[operation, default: []] += Array(repeating: .fail(error), count: times)
        }
    }

    /// Fails every request of the kind until the error is set to `nil`.
    func failAlways(_ operation: Operation, _ error: CloudError?) {
        script.withLock { $0.standing[operation] = error }
    }

    var isReachable: Bool {
        get { script.withLock { $0.standing[.fetch] == nil } }
        set {
            for operation in Operation.allCases {
                failAlways(operation, newValue ? nil : CloudError(.networkUnavailable))
            }
        }
    }

    /// Fails the item this number of times, each time it is sent.
    func failItem(_ name: String, _ errors: CloudError...) {
        script.withLock { $0.itemErrors[name, default: []] += errors }
    }

    func failItemAlways(_ name: String, _ error: CloudError?) {
        script.withLock { $0.standingItemErrors[name] = error }
    }

    /// Fails every request that contains the item, without naming the item in the error.
    func failRequests(with name: String, _ error: CloudError?) {
        script.withLock { $0.requestErrors[name] = error }
    }

    func changeModifyAnswers(_ transform: (@Sendable (ModifyRecordsResult) -> ModifyRecordsResult)?) {
        script.withLock { $0.modifyTransform = transform }
    }

    func changeFetchAnswers(_ transform: (@Sendable (ZoneChanges) -> ZoneChanges)?) {
        script.withLock { $0.fetchTransform = transform }
    }

    /// Returns the first page for every token.
    func ignoreTokens() {
        script.withLock { $0.ignoresTokens = true }
    }

    /// The tokens of all page requests, in order.
    var askedTokens: [ChangeToken?] { script.withLock { $0.askedTokens } }

    /// The tokens that pages returned, in order.
    var givenTokens: [ChangeToken] { script.withLock { $0.givenTokens } }

    func setAccount(_ status: AccountStatus?) {
        script.withLock { $0.status = status }
    }

    func setLimits(_ limits: DatabaseLimits) {
        script.withLock { $0.limits = limits }
    }

    /// Fails requests with more items than this with `limitExceeded`, whatever the limits say.
    func acceptAtMost(_ count: Int?) {
        script.withLock { $0.maximumAccepted = count }
    }

    var modifies: [Modify] { script.withLock { $0.modifies } }

    func count(_ operation: Operation) -> Int { script.withLock { $0.counts[operation] ?? 0 } }

    /// The largest number of concurrent requests of the kind.
    func peak(_ operation: Operation) -> Int { script.withLock { $0.peaks[operation] ?? 0 } }

    // MARK: CloudDatabase

    override var limits: DatabaseLimits { script.withLock { $0.limits } ?? super.limits }

    override var signals: AsyncStream<CloudSignal> {
        guard script.withLock({ $0.losesSignals }) else { return super.signals }
        return AsyncStream { continuation in script.withLock { $0.lostSignals.append(continuation) } }
    }

    /// Sends no signals to engines opened from now on.
    func loseSignals() {
        script.withLock { $0.losesSignals = true }
    }

    override func perform<Answer: Sendable>(
        _ operation: FakeOperation,
        _ body: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        guard let operation = Operation(operation) else { return try await body() }
        return try await perform(operation, body)
    }

    private func perform<Answer: Sendable>(
        _ operation: Operation,
        _ body: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let (fault, standing) = script.withLock { script -> (Fault?, CloudError?) in
            script.counts[operation, default: 0] += 1
            script.running[operation, default: 0] += 1
            script.peaks[operation] = max(script.peaks[operation] ?? 0, script.running[operation] ?? 0)
            if let standing = script.standing[operation] { return (nil, standing) }
            guard script.faults[operation]?.isEmpty == false else { return (nil, nil) }
            return (script.faults[operation]?.removeFirst(), nil)
        }
        defer { script.withLock { $0.running[operation, default: 0] -= 1 } }
        if let standing { throw standing }
        switch fault {
        case nil:
            return try await body()
        case .fail(let error)?:
            throw error
        case .loseAnswer?:
            _ = try await body()
            throw CloudError(.serverResponseLost)
        case .holdBefore(let gate)?:
            try await gate.pass()
            return try await body()
        case .holdAfter(let gate)?:
            let answer = try await body()
            try await gate.pass()
            return answer
        }
    }

    override func accountStatus() async throws -> AccountStatus {
        try await perform(Operation.account) {
            if let status = script.withLock({ $0.status }) { return status }
            return try await base.accountStatus()
        }
    }

    override func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult {
        let request = Modify(saves: recordsToSave, deletions: recordIDsToDelete.map(\.recordName))
        let (maximum, transform) = script.withLock { script in
            script.modifies.append(request)
            return (script.maximumAccepted, script.modifyTransform)
        }
        return try await perform(Operation.modify) {
            if let maximum, request.names.count > maximum { throw CloudError(.limitExceeded) }
            for name in request.names {
                if let error = script.withLock({ $0.requestErrors[name] }) { throw error }
            }
            let (errors, result) = try await modify(
                recordsToSave,
                recordIDsToDelete,
                savePolicy,
                atomically
            )
            var answer = result
            for (id, error) in errors {
                if request.deletions.contains(id.recordName) {
                    answer.deleteResults[id] = .some(error)
                } else {
                    answer.saveResults[id] = .failure(error)
                }
            }
            return transform.map { $0(answer) } ?? answer
        }
    }

    /// Withholds from the database the items that are planned to fail.
    private func modify(
        _ saves: [Record],
        _ deletions: [RecordID],
        _ policy: SavePolicy,
        _ atomically: Bool
    ) async throws -> ([RecordID: CloudError], ModifyRecordsResult) {
        let errors = script.withLock { script in
            var errors: [RecordID: CloudError] = [:]
            for id in saves.map(\.recordID) + deletions {
                if script.itemErrors[id.recordName]?.isEmpty == false {
                    errors[id] = script.itemErrors[id.recordName]?.removeFirst()
                } else if let error = script.standingItemErrors[id.recordName] {
                    errors[id] = error
                }
            }
            return errors
        }
        let result = try await base.modifyRecords(
            saving: saves.filter { errors[$0.recordID] == nil },
            deleting: deletions.filter { errors[$0] == nil },
            savePolicy: policy,
            atomically: atomically
        )
        return (errors, result)
    }

    override func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges {
        let (transform, ignoresTokens) = script.withLock { script in
            script.askedTokens.append(changeToken)
            return (script.fetchTransform, script.ignoresTokens)
        }
        return try await perform(Operation.fetch) {
            let changes = try await base.recordZoneChanges(
                inZoneWith: zoneID,
                since: ignoresTokens ? nil : changeToken,
                desiredKeys: desiredKeys,
                resultsLimit: resultsLimit
            )
            let answer = transform.map { $0(changes) } ?? changes
            script.withLock { $0.givenTokens.append(answer.changeToken) }
            return answer
        }
    }

    /// A push in a test is `["zone": name]`, for databases without pushes.
    override func notification(from userInfo: [AnyHashable: Any]) -> CloudNotification? {
        if let zone = userInfo["zone"] as? String {
            return CloudNotification(zoneID: ZoneID(zoneName: zone))
        }
        return super.notification(from: userInfo)
    }
}

extension ScriptedDatabase.Operation {
    /// The kind of a request; `nil` for requests that tests cannot change.
    fileprivate init?(_ operation: FakeOperation) {
        switch operation {
        case .any, .userRecordName, .allSubscriptions: return nil
        case .accountStatus: self = .account
        case .modifyRecords: self = .modify
        case .records: self = .lookUp
        case .modifyRecordZones, .recordZones: self = .zones
        case .databaseChanges: self = .databaseChanges
        case .recordZoneChanges: self = .fetch
        case .modifySubscriptions: self = .subscriptions
        }
    }
}
