@_spi(Server) import CodableSync
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// The dashboard: a page at the root, and what its script asks.
///
/// On loopback everybody may look, as everybody may sign in there. Elsewhere, and for changes, the administrator's token is
/// exchanged for a cookie that no script can read.
struct DashboardRoutes: Sendable {
    private struct Server: Encodable {
        let container: String
        let environment: String
        let users: [String]
        let isAdmin: Bool
        let faults: [String]
    }

    private struct SignIn: Decodable {
        let token: String
    }

    private struct News: Decodable {
        let after: Int
    }

    private struct RecordPlace: Decodable {
        let zoneName: String
        let recordName: String
    }

    /// What the script may ask of a database: nothing that changes it.
    private static let operations = ["zones/list", "changes/zone", "subscriptions/list"]
    private static let pollTime = Duration.seconds(20)

    let configuration: ServerConfiguration
    let access: DashboardAccess
    let service: RecordService
    let news: ServerNews
    let histories: RecordHistories

    func add(to router: Router<ServerContext>) {
        router.get("/") { _, _ in page(PackageResources.dashboard_html, "text/html") }
        router.get("/dashboard.js") { _, _ in page(PackageResources.dashboard_js, "text/javascript") }
        router.get("/dashboard.css") { _, _ in page(PackageResources.dashboard_css, "text/css") }
        on("/dashboard/sign-in", router, for: { _ in true }) { body, _, context in
            guard access.admits(try decode(body, as: SignIn.self).token) else {
                return Response(status: .unauthorized)
            }
            let isEncrypted = context.origin.hasPrefix("https:")
            return Response(
                status: .noContent,
                headers: [.setCookie: access.cookie(isEncrypted: isEncrypted)]
            )
        }
        on("/dashboard/server", router) { _, request, _ in
            await histories.follow()
            return try json(
                Server(
                    container: configuration.container,
                    environment: configuration.environment,
                    users: configuration.users,
                    isAdmin: access.mayChange(request),
                    faults: FaultPlan.faultNames + FaultPlan.eventNames
                )
            )
        }
        on("/dashboard/news", router) { body, _, _ in
            let after = try decode(body, as: News.self).after
            // A server that stops must not wait.
            let page = await cancelWhenGracefulShutdown {
                await news.page(after: after, within: Self.pollTime)
            }
            return try json(page)
        }
        for operation in Self.operations {
            on("/dashboard/database/:user/\(operation)", router) { body, _, context in
                let user = try user(context)
                let call = RecordService.Request(operation, body.bytes, user: user, scope: .private)
                return try await service.answer(to: call, at: Date()).response()
            }
        }
        on("/dashboard/database/:user/history", router) { body, _, context in
            let user = try user(context)
            let place = try decode(body, as: RecordPlace.self)
            return json(await histories.history(of: user, place.zoneName, place.recordName))
        }
    }

    private static let maximumBody = 64 << 10

    /// Adds a path, by default for those who may look.
    private func on(
        _ path: RouterPath,
        _ router: Router<ServerContext>,
        for isAdmitted: (@Sendable (Request) -> Bool)? = nil,
        _ answer: @Sendable @escaping (JSONBody, Request, ServerContext) async throws -> Response
    ) {
        let isAdmitted = isAdmitted ?? access.mayLook
        let limit = min(Self.maximumBody, configuration.limits.bodyBytes)
        router.post(path) { request, context in
            guard isAdmitted(request) else { return Response(status: .unauthorized) }
            guard request.isFromOwnPage(of: context) else { return Response(status: .forbidden) }
            do {
                return try await answer(try await request.json(upTo: limit), request, context)
            } catch let refusal as JSONBody.Refusal {
                return refusal.answer.response()
            }
        }
    }

    private func decode<Value: Decodable>(
        _ body: JSONBody,
        as type: Value.Type
    ) throws(JSONBody.Refusal) -> Value {
        try body.decode(type, orRefuse: "the body has other members than the dashboard's script sends")
    }

    private func user(_ context: ServerContext) throws(JSONBody.Refusal) -> String {
        let user = context.parameters.get("user")?.removingPercentEncoding ?? ""
        guard configuration.users.contains(user) else {
            throw JSONBody.Refusal(status: 404, code: "NOT_FOUND", reason: "there is no such user")
        }
        return user
    }

    private func json(_ value: some Encodable) throws -> Response { json(try JSONEncoder().encode(value)) }

    private func json(_ data: Data) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json; charset=UTF-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        )
    }

    /// A file of the page, which runs its own script only, is in no frame, and loads nothing from elsewhere.
    private func page(_ bytes: [UInt8], _ type: String) -> Response {
        var headers: HTTPFields = [
            .contentType: "\(type); charset=UTF-8",
            .cacheControl: "no-cache",
            .contentSecurityPolicy:
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "no-referrer" }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}

/// Who may look at the dashboard, and who may change something there.
struct DashboardAccess: Sendable {
    private static let cookieName = "record-server-admin"

    private let isOpen: Bool
    private let allowsChanges: Bool
    private let adminToken: SecretDigest
    /// What the cookie has instead of the token, so that it is of no use to other programs.
    private let secret: String
    private let secretDigest: SecretDigest

    init(_ configuration: ServerConfiguration, adminToken: String, secret: String) {
        isOpen = configuration.isLoopback
        allowsChanges = configuration.allowsChangesOnDashboard
        self.adminToken = SecretDigest(adminToken)
        self.secret = secret
        secretDigest = SecretDigest(secret)
    }

    /// Whether a text is the administrator's token.
    func admits(_ token: String) -> Bool { adminToken.matches(token) }

    /// The cookie of a browser whose user has the token.
    func cookie(isEncrypted: Bool) -> String {
        "\(Self.cookieName)=\(secret); Path=/dashboard; HttpOnly; SameSite=Strict"
            + (isEncrypted ? "; Secure" : "")
    }

    /// Whether a request may read.
    func mayLook(_ request: Request) -> Bool { isOpen || isSignedIn(request) }

    /// Whether a request may change something.
    func mayChange(_ request: Request) -> Bool { allowsChanges && isSignedIn(request) }

    private func isSignedIn(_ request: Request) -> Bool {
        if let token = request.headers[.adminToken], admits(token) { return true }
        return request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.contains { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingPrefix(while: \.isWhitespace) == Self.cookieName else {
                return false
            }
            return secretDigest.matches(String(parts[1]))
        }
    }
}
