@_spi(Server) import CodableSync
import Foundation
import HTTPTypes
import Hummingbird
import RecordCoding

/// The paths of databases: finds the user, and leaves the rest to the record service.
struct DatabaseRoutes: Sendable {
    /// The operations that have a path; others are refused.
    static let operations = [
        "records/modify", "records/lookup", "records/query", "changes/zone", "changes/database",
        "zones/modify",
        "zones/lookup", "zones/list", "subscriptions/modify", "subscriptions/lookup", "subscriptions/list",
        "users/current", "users/caller",
    ]
    private static let place = "/database/1/:container/:environment/:database"

    let authenticator: Authenticator
    let service: RecordService
    let faults: Faults
    let limits: ServerConfiguration.Limits

    func add(to router: Router<ServerContext>) {
        for method in [HTTPRequest.Method.get, .post] {
            for operation in Self.operations {
                router.on("\(Self.place)/\(operation)", method: method) { request, context in
                    try await answer(request, context, operation)
                }
            }
            router.on("\(Self.place)/**", method: method) { request, context in
                try await answer(request, context, "unknown")
            }
        }
    }

    private func answer(
        _ request: Request,
        _ context: ServerContext,
        _ operation: String
    ) async throws -> Response {
        var request = request
        switch try await authenticator.caller(of: &request, context) {
        case .refused(let answer): return answer.response()
        case .user(let caller):
            context.note(user: caller.user)
            var response: Response
            do {
                response = try await answer(request, context, operation, of: caller.user)
            } catch let refusal as JSONBody.Refusal {
                response = refusal.answer.response()
            }
            response.add(caller)
            return response
        }
    }

    private func answer(
        _ request: Request,
        _ context: ServerContext,
        _ operation: String,
        of user: String
    ) async throws -> Response {
        guard let scope = context.parameters.get("database").flatMap(DatabaseScope.init(rawValue:)) else {
            let reason = "a database is public, private or shared"
            return RecordService.Answer.refusal(status: 400, code: "BAD_REQUEST", reason: reason).response()
        }
        let body = try await request.json(upTo: limits.bodyBytes)
        let zones = await faults.areAboutZones ? ZonesOfRequest.names(in: body) : []
        let fault = await faults.take(for: user, operation, zones: zones)
        switch fault {
        case .answer(let answer): return answer.response()
        case .lostRequest: return context.lose()
        case .lostAnswer, .cutAnswer, .slowAnswer, nil: break
        }
        let answer: RecordService.Answer
        do throws(CloudError) {
            let call = RecordService.Request(operation, body.bytes, user: user, scope: scope)
            answer = try await service.answer(to: call, at: Date())
        } catch {
            // Nobody knows whether the request was carried out, and no answer says so.
            return context.lose()
        }
        switch fault {
        case .lostAnswer: return context.lose()
        case .cutAnswer: return answer.cutResponse()
        case .slowAnswer(let time): try await Task.sleep(for: time)
        case .answer, .lostRequest, nil: break
        }
        return answer.response()
    }
}

extension ServerContext {
    /// Ends the connection without an answer.
    func lose() -> Response {
        channel.close(promise: nil)
        return Response(status: .internalServerError)
    }
}
