import RecordCoding

/// The private database of a user of CloudKit Web Services.
///
/// ```swift
/// let engine = SyncEngine<Note>(database: .cloudKitWeb(session))
/// ```
///
/// A subscription to the database is made as one for each zone that exists then, since the services have no other.
public struct CloudKitWebDatabase: CloudDatabase {
    let connection: any WebConnection
    /// The generation of the account for which its requests are; `nil` for the one of the moment.
    private var boundGeneration: Int?

    package init(_ connection: any WebConnection) {
        self.connection = connection
    }

    /// The database of the user of this moment, for calls of several requests: the later ones must not reach another's.
    var ofOneUser: CloudKitWebDatabase {
        var bound = self
        bound.boundGeneration = boundGeneration ?? connection.accountGeneration
        return bound
    }

    /// The server, the container and the environment.
    public var identifier: String { get throws { try connection.identifier } }

    /// The private database.
    public var scope: DatabaseScope { .private }

    /// [Property Metrics](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/PropertyMetrics.html):
    /// 200 operations a request.
    public var limits: DatabaseLimits { DatabaseLimits(maximumItems: 200) }

    /// News from the services, as long as somebody listens, and changes of the account.
    public var signals: AsyncStream<CloudSignal> { connection.signals }

    /// Increases whenever another user has signed in.
    public var accountGeneration: Int { connection.accountGeneration }

    // MARK: The account

    /// Looks up the user, and says what that means for the account.
    ///
    /// - Returns: ``AccountStatus/noAccount`` only if nobody is signed in; if the services no longer accept the session, the
    ///   account is temporarily unavailable.
    /// - Throws: ``CloudError`` if it could not be looked up.
    public func accountStatus() async throws -> AccountStatus {
        do throws(CloudError) {
            _ = try await currentUser()
            return .available
        } catch {
            switch error.code {
            case .notAuthenticated: return .noAccount
            case .permissionFailure: return .restricted
            case .accountTemporarilyUnavailable: return .temporarilyUnavailable
            default: throw error
            }
        }
    }

    /// Looks up the user.
    ///
    /// - Returns: The user record name.
    /// - Throws: ``CloudError``.
    public func userRecordName() async throws -> String { try await currentUser() }

    private func currentUser() async throws(CloudError) -> String {
        let json = try await send("users/current", WebRequestBody.nothing)
        guard let name = json["userRecordName"]?.string, !name.isEmpty else {
            throw .malformed("userRecordName")
        }
        return name
    }

    // MARK: Sending

    /// Sends a request, and returns the body of a successful answer.
    func send(
        _ operation: String,
        _ body: [UInt8],
        isChange: Bool = false,
        isOfOneRecord: Bool = false
    ) async throws(CloudError) -> WebJSON {
        try await answer(operation, body, isChange: isChange, isOfOneRecord: isOfOneRecord).success()
    }

    /// Sends a request, and returns the answer, whatever its status.
    func answer(
        _ operation: String,
        _ body: [UInt8],
        isChange: Bool = false,
        isOfOneRecord: Bool = false
    ) async throws(CloudError) -> WebAnswer {
        var request = WebRequest(operation, body, isChange: isChange, accountGeneration: boundGeneration)
        request.isOfOneRecord = isOfOneRecord
        return try await connection.answer(to: request)
    }

    /// - Throws: `limitExceeded` for more items than one request may have.
    func checkCount(_ count: Int) throws(CloudError) {
        guard count > limits.maximumItems else { return }
        throw CloudError(
            .limitExceeded,
            message: "\(count) items are more than the \(limits.maximumItems) that a request may have."
        )
    }
}

extension CloudDatabase where Self == CloudKitWebDatabase {
    /// The private database of a session's user, by CloudKit Web Services.
    ///
    /// - Parameter session: The session, which any number of engines may share.
    /// - Returns: A connection to it.
    public static func cloudKitWeb(_ session: CloudKitWebSession) -> CloudKitWebDatabase {
        CloudKitWebDatabase(session)
    }
}

extension CloudKitWebDatabase: AccountBindable {
    package func bound(toAccountGeneration generation: Int) -> any CloudDatabase {
        var bound = self
        bound.boundGeneration = generation
        return bound
    }
}
