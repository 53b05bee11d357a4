@_spi(Server) import CodableSync
import HTTPTypes
import Hummingbird

/// Finds out whose request it is, by the tokens in its query.
struct Authenticator: Sendable {
    /// A user's request; the answer carries the next token.
    struct Caller: Sendable {
        let user: String
        let next: String?
        /// Whether the token has the name that other clients use, and so its header, too.
        let usesSessionName: Bool
    }

    /// What is answered instead.
    enum Outcome: Sendable {
        case user(Caller)
        case refused(RecordService.Answer)
    }

    private let container: String
    private let environment: String
    private let apiToken: SecretDigest
    private let tokens: SessionTokens

    init(_ configuration: ServerConfiguration, _ tokens: SessionTokens, apiToken: String) {
        container = configuration.container
        environment = configuration.environment
        self.apiToken = SecretDigest(apiToken)
        self.tokens = tokens
    }

    /// Checks the tokens of a request to a path with a container and an environment.
    func caller(of request: Request, _ context: ServerContext) async -> Outcome {
        guard let token = request.query("ckAPIToken") else {
            return .refused(.refusal(status: 400, code: "BAD_REQUEST", reason: "ckAPIToken is missing"))
        }
        let isHere =
            context.parameters.get("container") == container
            && context.parameters.get("environment") == environment
        guard apiToken.matches(token), isHere else {
            let reason = "the API token is not one of this container and environment"
            return .refused(.refusal(status: 401, code: "AUTHENTICATION_FAILED", reason: reason))
        }
        let named = request.query("ckWebAuthToken")
        guard let token = named ?? request.query("ckSession") else {
            let answer = RecordService.Answer.refusal(
                status: 421,
                code: "AUTHENTICATION_REQUIRED",
                reason: "request needs authorization",
                redirectURL: "\(request.origin)/sign-in"
            )
            return .refused(answer)
        }
        guard let session = await tokens.accept(token) else {
            let reason = "the web auth token is not good any more, or never was"
            return .refused(.refusal(status: 401, code: "AUTHENTICATION_FAILED", reason: reason))
        }
        return .user(Caller(user: session.user, next: session.next, usesSessionName: named == nil))
    }
}

extension Response {
    /// Adds the next token.
    mutating func add(_ caller: Authenticator.Caller) {
        guard let next = caller.next else { return }
        headers[.webAuthToken] = next
        if caller.usesSessionName { headers[.session] = next }
    }
}

extension HTTPField.Name {
    static let webAuthToken = webServices("X-Apple-CloudKit-Web-Auth-Token")
    static let session = webServices("X-Apple-CloudKit-Session")
    static let requestID = webServices("X-Apple-Request-UUID")
    static let version = webServices("x-apple-cloudkit-version")
    /// Says that the server is one of this project, which understands its additional keys.
    static let recordServer = webServices("X-Record-Server")
    static let adminToken = webServices("X-Record-Server-Admin")
    static let origin = webServices("Origin")

    private static func webServices(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .server }
}
