// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

open class CKContainer: NSObject, @unchecked Sendable {
    // Sendable is correct: there are only constants.
    public let containerIdentifier: String?
    private let service: any StandInService

    public init(identifier containerIdentifier: String) {
        StandIn.checkEntitlements()
        self.containerIdentifier = containerIdentifier
        service = StandIn.service(of: containerIdentifier)
    }

    open class func `default`() -> CKContainer {
        StandIn.checkDefaultContainer()
        return CKContainer(identifier: StandIn.defaultContainer)
    }

    open func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        CKDatabase(service: service, scope: databaseScope, configuration: nil)
    }

    @discardableResult
    open func accountStatus() async throws -> CKAccountStatus { try await service.accountStatus() }

    @discardableResult
    open func userRecordID() async throws -> CKRecord.ID { try await service.userRecordID() }
}

public enum CKAccountStatus: Int, Sendable {
    case couldNotDetermine = 0
    case available = 1
    case restricted = 2
    case noAccount = 3
    case temporarilyUnavailable = 4
}

extension Notification.Name {
    public static let CKAccountChanged = Notification.Name("CKAccountChangedNotification")
}
