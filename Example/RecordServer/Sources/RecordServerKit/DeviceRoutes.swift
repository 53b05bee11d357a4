@_spi(Server) import CodableSync
import Crypto
import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle

/// The paths of notifications: creates tokens for a device, and holds its polls.
struct DeviceRoutes: Sendable {
    private struct Token: Codable {
        var apnsEnvironment: String?
        var apnsToken: String?
        var webcourierURL: String?
    }

    /// Apple's page has the path without a database; clients of the live service use `device`, and some add a database.
    private static let places = [
        "/device/1/:container/:environment/tokens", "/database/1/:container/:environment/tokens",
        "/database/1/:container/:environment/:database/tokens",
    ]

    let authenticator: Authenticator
    let courier: Courier
    let limits: ServerConfiguration.Limits

    func add(to router: Router<ServerContext>) {
        for place in Self.places {
            router.post("\(place)/create") { request, context in
                try await answer(request, context) { token, user in
                    var token = token
                    let poll = await courier.makeToken(for: user)
                    token.apnsToken = Data(SHA256.hash(data: Data(poll.utf8))).base64EncodedString()
                    token.webcourierURL = "\(context.origin)/courier/\(poll)"
                    return token
                }
            }
            // The server has no way to Apple's push service.
            router.post("\(place)/register") { request, context in
                try await answer(request, context) { _, _ in Token() }
            }
        }
        for method in [HTTPRequest.Method.get, .post] {
            router.on("/courier/:token", method: method) { request, context in
                try await poll(request, context)
            }
        }
    }

    private func answer(
        _ request: Request,
        _ context: ServerContext,
        _ make: (Token, String) async -> Token
    ) async throws -> Response {
        var request = request
        let caller: Authenticator.Caller
        switch try await authenticator.caller(of: &request, context) {
        case .refused(let answer): return answer.response()
        case .user(let user): caller = user
        }
        context.note(user: caller.user)
        var response: Response
        do {
            let reason = "the body is no JSON object with an apnsEnvironment"
            let token = try await request.json(upTo: limits.bodyBytes)
                .decode(Token.self, orRefuse: reason)
            let made = await make(token, caller.user)
            response = Self.json(try JSONEncoder().encode(made))
        } catch let refusal as JSONBody.Refusal {
            response = refusal.answer.response()
        }
        response.add(caller)
        return response
    }

    private func poll(_ request: Request, _ context: ServerContext) async throws -> Response {
        let token = context.parameters.get("token") ?? ""
        // A poll ends when its client leaves, and a server that stops must not wait.
        let outcome = try await request.body.consumeWithCancellationOnInboundClose { _ in
            await cancelWhenGracefulShutdown { await courier.poll(token) }
        }
        var response: Response
        switch outcome {
        case .notification(let notification):
            let data = try JSONEncoder().encode(notification)
            response = Self.json(data)
            response.body = ResponseBody(contentLength: data.count) { writer in
                try await writer.write(ByteBuffer(bytes: data))
                // It stays for the next poll if the client has left.
                await courier.confirm(notification, to: token)
                try await writer.finish(nil)
            }
        case .nothing: response = Response(status: .ok, headers: [.cacheControl: "no-store"])
        case .unknownToken:
            let reason = "the token is not known any more; create another"
            response = RecordService.Answer.refusal(status: 404, code: "NOT_FOUND", reason: reason).response()
        }
        // Watching for the client to leave has used up the connection.
        response.headers[.connection] = "close"
        return response
    }

    private static func json(_ data: Data) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json; charset=UTF-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        )
    }
}
