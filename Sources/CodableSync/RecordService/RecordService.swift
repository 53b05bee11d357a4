import RecordCoding

import struct Foundation.Data
public import struct Foundation.Date
import struct Foundation.UUID

/// The server's side of CloudKit Web Services: answers operations in JSON from a ledger.
///
/// It knows neither sockets nor credentials: a server finds out who sends a request, and sends the answer.
///
/// ```swift
/// let service = RecordService(storage: LedgerDirectory(path: path, options: .webServices))
/// let request = RecordService.Request("records/lookup", body, user: "alice")
/// let answer = try await service.answer(to: request, at: date)
/// ```
@_spi(Server) public struct RecordService: Sendable {
    /// An operation of a user on one of the user's databases.
    public struct Request: Equatable, Sendable {
        /// The operation, such as `records/modify`.
        public var operation: String
        /// A JSON object; nothing stands for an empty one.
        public var body: [UInt8]
        /// The user record name of the user who sends it.
        public var user: String
        /// Which of the user's databases is meant.
        public var scope: DatabaseScope

        /// Creates a request.
        ///
        /// - Parameters:
        ///   - operation: The operation, such as `records/modify`.
        ///   - body: A JSON object; nothing stands for an empty one.
        ///   - user: The user record name of the user who sends it.
        ///   - scope: Which of the user's databases is meant.
        public init(_ operation: String, _ body: [UInt8], user: String, scope: DatabaseScope = .private) {
            self.operation = operation
            self.body = body
            self.user = user
            self.scope = scope
        }
    }

    /// The answer to a request.
    public struct Answer: Equatable, Sendable {
        /// The HTTP status.
        public var status: Int
        /// A JSON object.
        public var body: [UInt8]
        /// The seconds for the header `Retry-After`, which the body has, too.
        public var retryAfter: Int?
    }

    /// The user record name as which a server-to-server key acts; the public database is this user's.
    public static let developer = "_developer"

    let storage: any LedgerStorage
    let options: RecordServiceOptions
    let newRecordName: @Sendable () -> String

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - storage: The ledger; create it with ``LedgerOptions/webServices``.
    ///   - options: What it does where CloudKit's behaviour is uncertain.
    ///   - newRecordName: Names records that are created without a name.
    public init(
        storage: any LedgerStorage,
        options: RecordServiceOptions = RecordServiceOptions(),
        newRecordName: @escaping @Sendable () -> String = { UUID().uuidString }
    ) {
        self.storage = storage
        self.options = options
        self.newRecordName = newRecordName
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date.
    /// - Returns: The answer, whatever its status.
    /// - Throws: `serverResponseLost` if the storage can't say whether it has carried out the request: end the
    ///   connection without an answer.
    public func answer(to request: Request, at date: Date) async throws(CloudError) -> Answer {
        do throws(CloudError) {
            let body = try ServiceBody(request.body, limit: options.maximumRequestBytes)
            return try await answer(to: Call(request: request, body: body, date: date))
        } catch {
            if error.code == .serverResponseLost { throw error }
            return .refusal(error, options)
        }
    }

    private func answer(to call: Call) async throws(CloudError) -> Answer {
        switch call.request.operation {
        case "users/current": return .success { $0.text("userRecordName", call.request.user) }
        case "users/caller":
            return .success { writer in
                writer.objects("users", [call.request.user]) { $0.text("userRecordName", $1) }
            }
        default: break
        }
        if call.request.scope == .public { try checkPublic(call.request) }
        switch call.request.operation {
        case "records/modify": return try await modifyRecords(call)
        case "records/lookup": return try await lookUpRecords(call)
        case "changes/zone": return try await zoneChanges(call)
        case "changes/database": return try await databaseChanges(call)
        case "zones/modify": return try await modifyZones(call)
        case "zones/lookup": return try await lookUpZones(call)
        case "zones/list": return try await listZones(call)
        case "subscriptions/modify": return try await modifySubscriptions(call)
        case "subscriptions/lookup": return try await lookUpSubscriptions(call)
        case "subscriptions/list": return try await listSubscriptions(call)
        case "records/query": throw .badRequest("this server has no queries; fetch changes/zone instead")
        default: throw .badRequest("this server has no such operation")
        }
    }

    func perform(_ operation: LedgerRequest.Operation, _ call: Call) async throws(CloudError)
        -> LedgerResponse
    {
        let request = LedgerRequest(user: call.owner, scope: call.request.scope, operation: operation)
        let response = try await storage.perform(request, at: call.date).response
        if case .failure(let error) = response { throw error }
        return response
    }

    /// The public database has records in its default zone; everybody reads them, and the developer writes them.
    private func checkPublic(_ request: Request) throws(CloudError) {
        switch request.operation {
        case "records/lookup", "zones/list": return
        case "records/modify":
            guard request.user != Self.developer else { return }
            let message = "This server lets only a server-to-server key write to the public database."
            throw CloudError(.permissionFailure, message: message)
        default:
            throw .badRequest("this server has no such operation of the public database")
        }
    }

    func checkCount(_ count: Int) throws(CloudError) {
        guard count > options.maximumItems else { return }
        let message =
            "The request has \(count) items; \(options.maximumItems) are allowed. Send fewer at once."
        throw CloudError(.limitExceeded, message: message)
    }
}

/// A request while it is answered.
struct Call: Sendable {
    let request: RecordService.Request
    let body: ServiceBody
    let date: Date

    /// The user whose database it is.
    var owner: String { request.scope == .public ? RecordService.developer : request.user }
}

extension LedgerResponse {
    /// The error for a response of another kind than the request's.
    var unexpected: CloudError {
        CloudError(.internalError, message: "The storage answered another request.")
    }
}
