import CloudKit
import CodableSync
import Foundation

/// Answers for CloudKit as one device of a user of a `FakeCloud`, which has the rules of the server.
///
/// It converts values by itself and not with the adapter's code, so that an error of the adapter does not cancel
/// itself out.
final class FakeCloudKit: StandInService {
    /// What CloudKit may do in one way or another; no reference says in which.
    struct Differences: Sendable {
        /// Whether failures of items are thrown together, or returned one by one.
        var throwsItemErrors = false
        /// Whether a thrown error lists the items of an atomic request that failed because of others.
        var listsSiblings = true
        /// How records name the user who saved them: by a placeholder, or by name.
        var hasPlaceholderForUser = true
        /// Whether IDs in responses name the owner of a zone by the user's name.
        var namesOwner = false
        /// Whether the errors of the only zone of a request are wrapped into a `partialFailure`.
        var wrapsZoneErrors = false
    }

    struct Log: Sendable {
        var qualities: [QualityOfService?] = []
        var fetchQualities: [QualityOfService?] = []
        var timeouts: [TimeInterval?] = []
        var subscriptions: [String] = []
        /// The fields that each save of a record has sent.
        var changedKeys: [String: [[String]]] = [:]
        /// What other requests than saves were made, by name.
        var requests: [String] = []
    }

    let device: FakeDatabase
    let differences: Differences
    let log = Shared(Log())
    /// An error for every request about the account and the container.
    let fault = Shared<CKError?>(nil)
    /// Runs after the user was looked up, and before the answer arrives.
    let afterLookUp = Shared<(@Sendable () -> Void)?>(nil)
    /// Runs after a request was cancelled.
    let afterCancellation = Shared<(@Sendable () -> Void)?>(nil)
    /// Changes each record of a response, as a newer CloudKit might.
    let changeRecord = Shared<(@Sendable (CKRecord) -> Void)?>(nil)
    /// Changes the results of a save or a look-up, or throws an error in their place.
    let changeResults = Shared<(@Sendable (inout RecordResults) throws -> Void)?>(nil)
    /// Changes the records of a page.
    let changePage = Shared<(@Sendable (inout PageResults) -> Void)?>(nil)
    /// The fields that were saved encrypted or not, by type and name, for ever.
    private let encryption: Shared<[String: Bool]>

    init(
        _ device: FakeDatabase,
        _ differences: Differences = Differences(),
        encryption: Shared<[String: Bool]> = Shared([:])
    ) {
        self.device = device
        self.differences = differences
        self.encryption = encryption
    }

    /// The service of another device of the same user.
    func secondDevice() -> FakeCloudKit {
        FakeCloudKit(device.cloud.database(user: device.user ?? ""), differences, encryption: encryption)
    }

    /// Makes the adapter's database, with this device behind it.
    func database(scope: DatabaseScope = .private) -> CloudKitDatabase {
        let container = "iCloud.test.\(device.cloud.identifier)"
        StandIn.use(self, for: container)
        let database = CloudKitDatabase(containerIdentifier: container, scope: scope)
        // Makes the container while this service answers for it, and not that of the next device.
        precondition(database.identifier == "\(container)/\(scope.rawValue)")
        return database
    }

    /// Changes the account, and reports it as the system does.
    func changeAccount(_ change: (FakeDatabase) -> Void) {
        change(device)
        NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    }

    // MARK: The account

    func accountStatus() async throws -> CKAccountStatus {
        if let fault = fault.with({ $0 }) { throw fault }
        return switch try await native({ try await device.accountStatus() }) {
        case .available: .available
        case .restricted: .restricted
        case .noAccount: .noAccount
        case .temporarilyUnavailable: .temporarilyUnavailable
        case .couldNotDetermine: .couldNotDetermine
        }
    }

    func userRecordID() async throws -> CKRecord.ID {
        let name = try await native { try await device.userRecordName() }
        afterLookUp.with { $0 }?()
        return CKRecord.ID(recordName: name)
    }

    /// Converts the error of a request.
    func native<Answer>(_ request: () async throws -> Answer) async throws -> Answer {
        do {
            return try await request()
        } catch let error as CloudError {
            if Task.isCancelled { noteCancellation() }
            throw native(error)
        } catch is CancellationError {
            noteCancellation()
            throw CKError(.operationCancelled)
        }
    }

    private func noteCancellation() {
        log.with { $0.requests.append("cancelled") }
        afterCancellation.with { $0 }?()
    }

    func native(_ error: CloudError) -> CKError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: error.message]
        if let wait = error.retryAfter { userInfo[CKErrorRetryAfterKey] = wait / .seconds(1) }
        if let record = error.serverRecord {
            userInfo[CKRecordChangedErrorServerRecordKey] = native(record)
        }
        if error.userDidResetEncryptedData { userInfo[CKErrorUserDidResetEncryptedDataKey] = true }
        let index = CloudError.Code.known.firstIndex(of: error.code) ?? 0
        return CKError(CKError.Code(rawValue: index + 1) ?? .internalError, userInfo: userInfo)
    }

    // MARK: Encrypted fields

    func note(_ name: String, of type: String, isEncrypted: Bool) throws {
        let known = encryption.with { fields in
            defer { fields["\(type).\(name)"] = fields["\(type).\(name)"] ?? isEncrypted }
            return fields["\(type).\(name)"]
        }
        if let known, known != isEncrypted { throw CKError(.invalidArguments) }
    }

    /// Forgets which fields are encrypted, as a reset of the development environment does.
    func forgetEncryption() { encryption.with { $0 = [:] } }

    func isEncrypted(_ name: String, of type: String) -> Bool {
        encryption.with { $0["\(type).\(name)"] ?? false }
    }
}

/// A value that is used only while its lock is held, which makes `@unchecked` correct.
final class Shared<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
    }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
