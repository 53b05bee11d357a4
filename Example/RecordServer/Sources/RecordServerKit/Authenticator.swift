@_spi(Server) import CodableSync
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Finds out whose request it is, by the tokens in its query, or by the signature of a server-to-server key.
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
    private let keys: ServerKeys
    private let bodyBytes: Int

    init(_ configuration: ServerConfiguration, _ tokens: SessionTokens, _ keys: ServerKeys, apiToken: String)
    {
        container = configuration.container
        environment = configuration.environment
        self.apiToken = SecretDigest(apiToken)
        self.tokens = tokens
        self.keys = keys
        bodyBytes = configuration.limits.bodyBytes
    }

    /// Checks the tokens or the signature of a request to a path with a container and an environment.
    func caller(of request: inout Request, _ context: ServerContext) async throws -> Outcome {
        if request.headers[.keyID] != nil { return try await developer(of: &request, context) }
        guard let token = request.query("ckAPIToken") else {
            return .refused(.refusal(status: 400, code: "BAD_REQUEST", reason: "ckAPIToken is missing"))
        }
        guard apiToken.matches(token), isHere(context) else {
            let reason = "the API token is not one of this container and environment"
            return .refused(.refusal(status: 401, code: "AUTHENTICATION_FAILED", reason: reason))
        }
        let named = request.query("ckWebAuthToken")
        guard let token = named ?? request.query("ckSession") else {
            let answer = RecordService.Answer.refusal(
                status: 421,
                code: "AUTHENTICATION_REQUIRED",
                reason: "request needs authorization",
                redirectURL: "\(context.origin)/sign-in"
            )
            return .refused(answer)
        }
        guard let session = await tokens.accept(token) else {
            let reason = "the web auth token is not good any more, or never was"
            return .refused(.refusal(status: 401, code: "AUTHENTICATION_FAILED", reason: reason))
        }
        return .user(Caller(user: session.user, next: session.next, usesSessionName: named == nil))
    }

    private func isHere(_ context: ServerContext) -> Bool {
        context.parameters.get("container") == container
            && context.parameters.get("environment") == environment
    }

    /// Checks the signature of a request, whose body stays readable.
    private func developer(of request: inout Request, _ context: ServerContext) async throws -> Outcome {
        func refuse(_ status: Int, _ code: String, _ reason: String) -> Outcome {
            .refused(.refusal(status: status, code: code, reason: reason))
        }
        guard request.query("ckAPIToken") == nil, request.query("ckWebAuthToken") == nil else {
            return refuse(400, "BAD_REQUEST", "a request has tokens or a signature, not both")
        }
        guard isHere(context) else {
            return refuse(
                401,
                "AUTHENTICATION_FAILED",
                "the key is not one of this container and environment"
            )
        }
        if let objection = keys.objection(to: request, at: Date()) {
            return refuse(401, "AUTHENTICATION_FAILED", objection)
        }
        guard let body = try await request.body(upTo: bodyBytes) else {
            return .refused(JSONBody.Refusal.tooLarge(bodyBytes).answer)
        }
        guard keys.isSigned(request, body) else {
            return refuse(401, "AUTHENTICATION_FAILED", "the signature is not that of this request")
        }
        guard context.parameters.get("database") == DatabaseScope.public.rawValue else {
            return refuse(403, "ACCESS_DENIED", "a server-to-server key is for the public database")
        }
        request.body = RequestBody(buffer: ByteBuffer(bytes: body))
        return .user(Caller(user: RecordService.developer, next: nil, usesSessionName: false))
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
    static let keyID = webServices("X-Apple-CloudKit-Request-KeyID")
    static let keyDate = webServices("X-Apple-CloudKit-Request-ISO8601Date")
    static let keySignature = webServices("X-Apple-CloudKit-Request-SignatureV1")
    static let adminToken = webServices("X-Record-Server-Admin")
    static let origin = webServices("Origin")

    private static func webServices(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .server }
}
