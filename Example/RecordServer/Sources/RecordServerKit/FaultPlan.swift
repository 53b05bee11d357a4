@_spi(Server) import CodableSync
import Foundation

/// What the administrator asks for: a fault of the next requests, or something that happens to a database now.
struct FaultPlan: Decodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case fault, user, zone, operation, count, untilOff, seconds, status, code, json, bytes
    }

    /// The members of a plan that mean nothing, such as a misspelt one that would have narrowed it.
    struct UnknownMembers: Decodable {
        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        let names: [String]

        init(from decoder: any Decoder) throws {
            let found = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
            names = found.filter { CodingKeys(stringValue: $0) == nil }.sorted()
        }
    }

    private static let tokenRefusal = "AUTHENTICATION_FAILED"

    var fault: String
    var user: String?
    var zone: String?
    /// The only operation that meets it, such as `records/modify`.
    var operation: String?
    var count: Int?
    var untilOff: Bool?
    /// How long a throttled client shall wait, or how late a slow answer is.
    var seconds: Double?
    var status: Int?
    var code: String?
    /// Whether an answer has a body; those of proxies have none.
    var json: Bool?
    var bytes: Int?

    /// The names of faults that requests meet.
    static let faultNames = [
        "throttled", "unavailable", "outage", "error", "bad-token", "lost-request", "lost-answer",
        "cut-answer",
        "slow-answer",
    ]
    /// The names of what happens to a database at once.
    static let eventNames = ["expire-tokens", "purge", "reset-encrypted-data", "quota"]

    /// The fault of requests; `nil` if it is none, or is not described well.
    var requestFault: Faults.Fault? {
        guard let kind, count.map({ $0 > 0 }) ?? true else { return nil }
        if let operation, !DatabaseRoutes.operations.contains(operation) { return nil }
        return Faults.Fault(
            name: fault,
            kind: kind,
            user: user,
            zone: zone,
            operation: operation,
            count: untilOff == true ? nil : count ?? 1
        )
    }

    private var kind: Faults.Kind? {
        guard seconds.map({ 0...3600 ~= $0 }) ?? true else { return nil }
        switch fault {
        case "throttled": return refusal(429, "THROTTLED")
        case "unavailable": return refusal(503, "TRY_AGAIN_LATER")
        case "outage": return refusal(502, "", hasBody: false)
        case "bad-token": return refusal(401, Self.tokenRefusal)
        case "error":
            guard let status, 400..<600 ~= status else { return nil }
            return refusal(status, code ?? "INTERNAL_ERROR", hasBody: json ?? true)
        case "lost-request": return .lostRequest
        case "lost-answer": return .lostAnswer
        case "cut-answer": return .cutAnswer
        case "slow-answer": return .slowAnswer(.seconds(seconds ?? 5))
        default: return nil
        }
    }

    private func refusal(_ status: Int, _ code: String, hasBody: Bool = true) -> Faults.Kind {
        var answer = RecordService.Answer.refusal(
            status: status,
            code: code,
            reason: "planned fault",
            retryAfter: seconds.map { Int($0.rounded(.up)) }
        )
        if !hasBody { answer.body = [] }
        return .answer(answer)
    }

    /// What happens to a database at once; `nil` if it is nothing, or is not described well.
    var event: LedgerRequest.Operation? {
        // It happens once, whatever requests come.
        guard operation == nil, (count ?? 1) == 1, untilOff != true else { return nil }
        let zoneID = zone.map { ZoneID(zoneName: $0) }
        switch fault {
        case "expire-tokens": return .expireTokens(zoneID)
        case "purge": return zoneID.map { .removeZone($0, reason: .purged) }
        case "reset-encrypted-data": return zoneID.map { .removeZone($0, reason: .encryptedDataReset) }
        case "quota": return (bytes ?? 0) >= 0 ? .setQuota(bytes: bytes) : nil
        default: return nil
        }
    }
}
