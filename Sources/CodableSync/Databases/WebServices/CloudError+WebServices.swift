import RecordCoding

import struct Foundation.URL

/// What errors of CloudKit Web Services mean.
///
/// The codes are those of
/// [Error Codes](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/ErrorCodes.html),
/// and some that the service was seen to return.
extension CloudError {
    /// The error of an item in a response; `nil` if the item has none.
    init?(webItem json: WebJSON) {
        guard case .object(let members) = json, let code = members["serverErrorCode"], code != .null else {
            return nil
        }
        self.init(web: json, status: nil, retryAfter: nil)
    }

    /// The error of a whole request.
    ///
    /// - Parameters:
    ///   - json: The body; `nil` if it is no JSON.
    ///   - status: The HTTP status; `nil` for an item of a successful response.
    ///   - header: The wait that the header `Retry-After` asks for.
    init(web json: WebJSON?, status: Int?, retryAfter header: Duration?) {
        let name = json?["serverErrorCode"]?.string
        let code = name.map(Code.init(web:)) ?? Code(webStatus: status)
        // A wait says that the failure is temporary, so one that is none must not be taken for one.
        let asked = json?["retryAfter"]?.double.flatMap { $0 > 0 ? Duration(webWait: $0) : nil }
        let wait = asked ?? header
        let said = json?["reason"]?.string.map { ": \($0.abbreviated(to: 200))" } ?? ""
        let what = name ?? status.map { "HTTP status \($0)" } ?? "an error without a code"
        self.init(
            code ?? .unknown(what.abbreviated),
            message: "The server answered \(what.abbreviated)\(said)",
            retryAfter: wait,
            redirectURL: code == .notAuthenticated
                ? json?["redirectURL"]?.string.flatMap(URL.init(webRedirect:)) : nil
        )
    }

    /// Whether a change token that was sent can no longer be used.
    ///
    /// The live service answers `BAD_REQUEST` with a reason that names the continuation; others have a code of its own.
    static func isTokenExpired(_ json: WebJSON) -> Bool {
        switch json["serverErrorCode"]?.string {
        case "CHANGE_TOKEN_EXPIRED": return true
        case "BAD_REQUEST":
            let reason = json["reason"]?.string?.lowercased() ?? ""
            return reason.contains("continuation") || reason.contains("token")
        default: return false
        }
    }
}

extension CloudError.Code {
    /// The code for one of the services'.
    fileprivate init(web name: String) {
        switch name {
        case "ACCESS_DENIED": self = .permissionFailure
        case "ATOMIC_ERROR": self = .batchRequestFailed
        case "AUTHENTICATION_FAILED", "AUTHENTICATION_REQUIRED": self = .notAuthenticated
        case "BAD_REQUEST": self = .invalidArguments
        case "CHANGE_TOKEN_EXPIRED": self = .changeTokenExpired
        case "CONFLICT", "EXISTS": self = .serverRecordChanged
        case "INTERNAL_ERROR": self = .internalError
        case "LIMIT_EXCEEDED": self = .limitExceeded
        case "NOT_FOUND": self = .unknownItem
        case "QUOTA_EXCEEDED": self = .quotaExceeded
        case "SERVICE_UNAVAILABLE", "TRY_AGAIN_LATER": self = .serviceUnavailable
        case "THROTTLED": self = .requestRateLimited
        case "UNIQUE_FIELD_ERROR": self = .constraintViolation
        case "VALIDATING_REFERENCE_ERROR": self = .referenceViolation
        case "ZONE_NOT_FOUND": self = .zoneNotFound
        default: self = .unknown(name.abbreviated)
        }
    }

    /// The code for a status whose body says nothing; `nil` for one that says nothing either, which may be that of a
    /// proxy or of another page: such a request is repeated a few times.
    ///
    /// The service itself always says why a user is not signed in. Without that, a 421 means that a connection was
    /// used for the wrong host, and a 401 is a proxy's: neither is a sign-out, which may remove a user's records.
    fileprivate init?(webStatus status: Int?) {
        switch status {
        case nil: return nil
        case 401: self = .accountTemporarilyUnavailable
        case 408, 425: self = .serviceUnavailable
        case 413: self = .limitExceeded
        case 421: self = .networkFailure
        case 429: self = .requestRateLimited
        case let status? where 400..<500 ~= status: return nil
        case let status? where 500..<600 ~= status: self = .serviceUnavailable
        default: self = .networkFailure
        }
    }
}

extension Duration {
    /// A wait in seconds that a server asks for, limited to between a second and an hour.
    ///
    /// One of Apple's samples has the value 110207, which may be in milliseconds, so longer waits are cut to an hour.
    init(webWait seconds: Double) {
        self = seconds.isNaN ? .seconds(1) : .seconds(min(max(seconds, 1), 3600))
    }
}

extension URL {
    /// The page at which a user signs in; `nil` for a text that no browser should open.
    fileprivate init?(webRedirect text: String) {
        guard let url = URL(string: text), url.isSafeForTokens else { return nil }
        self = url
    }
}
