@_spi(Server) import CodableSync
import Foundation
import Hummingbird

/// The faults with which the next requests to databases are answered, for rehearsals.
actor Faults {
    /// What happens to one request.
    enum Fault: Equatable, Sendable {
        /// It is answered with this instead.
        case answer(RecordService.Answer)
        /// The connection is closed before the request is carried out.
        case lostRequest
        /// The connection is closed after the request was carried out.
        case lostAnswer
    }

    private static let maximumCount = 1000

    private var planned: [Fault] = []

    func take() -> Fault? { planned.isEmpty ? nil : planned.removeFirst() }

    func plan(_ fault: Fault, count: Int) {
        planned += Array(repeating: fault, count: min(max(count, 0), Self.maximumCount - planned.count))
    }
}

/// `POST /admin/faults`, for the administrator only, and not from pages of other sites.
struct AdminRoutes: Sendable {
    private struct Plan: Decodable {
        var count: Int?
        var status: Int?
        var code: String?
        var retryAfter: Int?
        /// Whether the answer has a body; proxies answer without one.
        var json: Bool?
        /// `request` or `answer`.
        var lost: String?
    }

    private static let maximumBody = 64 << 10

    let adminToken: SecretDigest
    let faults: Faults

    func add(to router: Router<ServerContext>) {
        router.post("/admin/faults") { request, _ in
            guard let token = request.headers[.adminToken], adminToken.matches(token) else {
                return Response(status: .unauthorized)
            }
            guard request.isFromOwnPage else { return Response(status: .forbidden) }
            guard let body = try await request.body(upTo: Self.maximumBody), let (fault, count) = read(body)
            else {
                return Response(status: .badRequest)
            }
            await faults.plan(fault, count: count)
            return Response(status: .noContent)
        }
    }

    private func read(_ body: [UInt8]) -> (Faults.Fault, count: Int)? {
        let plan: Plan
        do { plan = try JSONDecoder().decode(Plan.self, from: Data(body)) } catch { return nil }
        let count = plan.count ?? 1
        switch plan.lost {
        case "request": return (.lostRequest, count)
        case "answer": return (.lostAnswer, count)
        case nil: break
        default: return nil
        }
        guard let status = plan.status, 400..<600 ~= status else { return nil }
        let isTemporary = status == 429 || status == 503
        var answer = RecordService.Answer.refusal(
            status: status,
            code: plan.code
                ?? (status == 429 ? "THROTTLED" : isTemporary ? "TRY_AGAIN_LATER" : "INTERNAL_ERROR"),
            reason: "planned fault",
            retryAfter: plan.retryAfter ?? (isTemporary ? 1 : nil)
        )
        if plan.json == false { answer.body = [] }
        return (.answer(answer), count)
    }
}

extension Request {
    /// Whether the request is from no page of another site; other programs send no origin.
    var isFromOwnPage: Bool { headers[.origin].map { $0 == origin } ?? true }
}
