import RecordCoding

/// Sends the requests of one user's database to CloudKit Web Services, one at a time.
package protocol WebConnection: Sendable {
    /// What the requests go to: host, container and environment.
    var identifier: String { get throws }

    /// A number that increases whenever another user may have signed in.
    var accountGeneration: Int { get }

    /// Whether the server is one of this project, which notices by change tags that it was put back to an earlier copy.
    var takesKnownChangeTags: Bool { get }

    /// News about the database and the account; each access returns a new stream.
    var signals: AsyncStream<CloudSignal> { get }

    /// Sends a request.
    ///
    /// - Parameter request: The request.
    /// - Returns: The answer, whatever its status.
    /// - Throws: `serverResponseLost` if the server may have carried out a request that changes something;
    ///   otherwise an error of the network or of the account.
    func answer(to request: WebRequest) async throws(CloudError) -> WebAnswer
}

/// A request of a database.
package struct WebRequest: Equatable, Sendable {
    /// The operation, such as `records/modify`.
    package var operation: String
    /// A JSON object.
    package var body: [UInt8]
    /// Whether it changes something, so that it must not be sent twice.
    package var isChange: Bool
    /// Whether it is about one record, so that nothing smaller can be asked for.
    package var isOfOneRecord = false
    /// The generation of the account for which it is; `nil` for the one of the moment.
    package var accountGeneration: Int?

    package init(
        _ operation: String,
        _ body: [UInt8],
        isChange: Bool = false,
        accountGeneration: Int? = nil
    ) {
        self.operation = operation
        self.body = body
        self.isChange = isChange
        self.accountGeneration = accountGeneration
    }
}

/// What the services answer to a request.
package struct WebAnswer: Equatable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The body; `nil` if it is no JSON.
    package var json: WebJSON?
    /// The wait that the header `Retry-After` asks for.
    package var retryAfter: Duration?
    /// Whether the body was larger than is read, or has more values.
    package var isTooLarge = false

    package init(status: Int, json: WebJSON?, retryAfter: Duration? = nil) {
        self.status = status
        self.json = json
        self.retryAfter = retryAfter
    }

    /// The body of a request that was carried out.
    ///
    /// - Throws: The error of the request as a whole; `limitExceeded` for a body that is too large;
    ///   `serverResponseLost` for one that is no JSON, since the server said that it has done what was asked.
    func success() throws(CloudError) -> WebJSON {
        if isTooLarge, status == 200 {
            throw CloudError(.limitExceeded, message: "The server's answer is too large.")
        }
        if status == 200, let json, json["serverErrorCode"] == nil { return json }
        if status == 200, json == nil {
            throw CloudError(.serverResponseLost, message: "The server's answer is not JSON.")
        }
        var error = CloudError(web: json, status: status, retryAfter: retryAfter)
        // It names no item, so no item is known to be gone.
        if error.code == .unknownItem { error.code = .unknown("NOT_FOUND") }
        throw error
    }

    /// Whether a token that was sent can no longer be used; the services may say so of the request or of its zone.
    var isTokenExpired: Bool { json.map(CloudError.isTokenExpired) ?? false }
}
