@_spi(Server) import CodableSync
import Foundation
import HTTPTypes
import Hummingbird

/// `/admin/faults`, for the administrator only, and `/dashboard/faults` for the dashboard; not from pages of other sites.
///
/// `POST` switches a fault on, or lets something happen to a database; `GET` lists what is on; `DELETE` switches off.
struct AdminRoutes: Sendable {
    private struct Listed: Encodable {
        let id: Int
        let fault: String
        let user: String?
        let zone: String?
        let operation: String?
        /// How many requests will meet it; missing until it is switched off.
        let count: Int?
    }

    private struct Answer: Encodable {
        var id: Int?
        /// For what happens at once.
        var done: Bool?
        var error: String?
    }

    let configuration: ServerConfiguration
    let access: DashboardAccess
    let faults: Faults
    let storage: any LedgerStorage

    func add(to router: Router<ServerContext>) {
        on(.post, "", router) { request, _ in
            let reason = "The body is no JSON object with the name of a \"fault\"."
            do {
                let body = try await request.json(upTo: configuration.limits.bodyBytes)
                let plan = try body.decode(FaultPlan.self, orRefuse: reason)
                let unknown = try body.decode(FaultPlan.UnknownMembers.self, orRefuse: reason).names
                guard unknown.isEmpty else {
                    return try refuse(.badRequest, "A fault has no \(unknown.joined(separator: ", ")).")
                }
                return try await carryOut(plan)
            } catch let refusal as JSONBody.Refusal {
                return try refuse(HTTPResponse.Status(code: refusal.status), refusal.reason)
            }
        }
        on(.get, "", router) { _, _ in
            let listed = await faults.all.map { id, fault in
                Listed(
                    id: id,
                    fault: fault.name,
                    user: fault.user,
                    zone: fault.zone,
                    operation: fault.operation,
                    count: fault.count
                )
            }
            return try response(.ok, listed)
        }
        on(.delete, "", router) { _, _ in
            _ = await faults.switchOff(nil)
            return Response(status: .noContent)
        }
        on(.delete, "/:id", router) { _, context in
            let id = context.parameters.get("id").flatMap { Int($0) }
            guard let id, await faults.switchOff(id) else {
                return try refuse(.notFound, "There is no fault of this number.")
            }
            return Response(status: .noContent)
        }
    }

    /// Adds a path that only the administrator may use.
    private func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ router: Router<ServerContext>,
        _ answer: @Sendable @escaping (Request, ServerContext) async throws -> Response
    ) {
        func add(_ place: String, _ isAdmitted: @Sendable @escaping (Request) -> Bool) {
            router.on(RouterPath(place + path), method: method) { request, context in
                guard isAdmitted(request) else { return Response(status: .unauthorized) }
                guard request.isFromOwnPage(of: context) else { return Response(status: .forbidden) }
                return try await answer(request, context)
            }
        }
        add("/admin/faults") { $0.headers[.adminToken].map(access.admits) ?? false }
        add("/dashboard/faults", access.mayChange)
    }

    private func carryOut(_ plan: FaultPlan) async throws -> Response {
        if let user = plan.user, !configuration.users.contains(user) {
            return try refuse(.badRequest, "There is no such user.")
        }
        if let fault = plan.requestFault {
            guard let id = await faults.switchOn(fault) else {
                return try refuse(.conflict, "\(Faults.maximumCount) faults are on. Switch some off.")
            }
            return try response(.ok, Answer(id: id))
        }
        if let event = plan.event { return try await happen(event, to: plan.user) }
        let names = FaultPlan.faultNames + FaultPlan.eventNames
        guard names.contains(plan.fault) else {
            return try refuse(.badRequest, "The faults are \(names.joined(separator: ", ")).")
        }
        return try refuse(
            .badRequest,
            "A value for \"\(plan.fault)\" is missing or wrong: purge and reset-encrypted-data need a \"zone\", error a "
                + "\"status\" from 400 to 599; \"count\" is at least 1, \"seconds\" from 0 to 3600, \"bytes\" at least 0, and "
                + "what happens at once takes no \"count\", \"untilOff\" or \"operation\", which is else one of \(DatabaseRoutes.operations.joined(separator: ", "))."
        )
    }

    /// Lets something happen to the database of a user, or of each user who has the zone that it is about.
    private func happen(_ event: LedgerRequest.Operation, to user: String?) async throws -> Response {
        var missing: CloudError?
        var isDone = false
        for one in user.map({ [$0] }) ?? configuration.users {
            guard let error = await failure(of: event, to: one) else {
                isDone = true
                continue
            }
            guard error.code == .zoneNotFound else { return try refuse(.badRequest, error.message) }
            missing = error
        }
        if let missing, !isDone { return try refuse(.badRequest, missing.message) }
        return try response(.ok, Answer(done: true))
    }

    /// Lets something happen to a user's private database.
    ///
    /// - Returns: Why it can't; `nil` if it did.
    private func failure(of event: LedgerRequest.Operation, to user: String) async -> CloudError? {
        do throws(CloudError) {
            let request = LedgerRequest(user: user, operation: event)
            guard case .failure(let error) = try await storage.perform(request, at: Date()).response else {
                return nil
            }
            return error
        } catch {
            return error
        }
    }

    private func refuse(_ status: HTTPResponse.Status, _ reason: String) throws -> Response {
        try response(status, Answer(error: reason))
    }

    private func response(_ status: HTTPResponse.Status, _ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(value) + Data("\n".utf8)
        return Response(
            status: status,
            headers: [.contentType: "application/json; charset=UTF-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
    }
}
