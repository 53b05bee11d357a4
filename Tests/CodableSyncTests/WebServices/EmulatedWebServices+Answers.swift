import Foundation

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// What the emulated services answer.
extension WebAnswer {
    /// The answer that the services would give.
    init(_ response: LedgerResponse, _ zoneID: ZoneID?) {
        self = Self.answer(response, zoneID)
    }

    private static func answer(_ response: LedgerResponse, _ zoneID: ZoneID?) -> WebAnswer {
        switch response {
        case .modifyRecords(let result):
            return success { writer throws(CloudError) in
                let saves = result.saveResults.sorted { $0.key < $1.key }
                let deletions = result.deleteResults.sorted { $0.key < $1.key }
                writer.key("records")
                writer.beginArray()
                for (id, result) in saves { try writer.item(id, result) }
                for (id, error) in deletions {
                    writer.object(id.recordName, "recordName") { writer in
                        if let error { writer.failure(error) } else { writer.deleted() }
                    }
                }
                writer.endArray()
            }
        case .records(let results):
            if let zoneID, results.values.allSatisfy({ $0.code == .zoneNotFound }), !results.isEmpty {
                return .refusal(CloudError(.zoneNotFound, message: zoneID.zoneName))
            }
            return success { writer throws(CloudError) in
                try writer.list("records", results.sorted { $0.key < $1.key }) {
                    writer,
                    pair throws(CloudError) in
                    try writer.item(pair.key, pair.value)
                }
            }
        case .recordZoneChanges(let changes): return answer(changes, zoneID ?? .default)
        case .databaseChanges(let changes):
            return success { writer throws(CloudError) in
                writer.key("zones")
                writer.beginArray()
                for zoneID in changes.modifications { writer.zone(zoneID) { $0.text("syncToken", "latest") } }
                for deletion in changes.deletions {
                    writer.zone(deletion.zoneID) { writer in
                        writer.deleted()
                        writer.text("deletionReason", deletion.reason == .purged ? "PURGED" : nil)
                    }
                }
                writer.endArray()
                writer.position(changes.changeToken, changes.moreComing)
            }
        case .modifyRecordZones(let result):
            return success { writer throws(CloudError) in
                writer.key("zones")
                writer.beginArray()
                for (zoneID, result) in result.saveResults {
                    writer.zone(zoneID) { $0.failure(result.error) }
                }
                for (zoneID, error) in result.deleteResults {
                    writer.zone(zoneID) { if let error { $0.failure(error) } else { $0.deleted() } }
                }
                writer.endArray()
            }
        case .recordZones(let results):
            return success { writer throws(CloudError) in
                writer.key("zones")
                writer.beginArray()
                for (zoneID, result) in results { writer.zone(zoneID) { $0.failure(result.error) } }
                writer.endArray()
            }
        case .allZones(let zones):
            return success { writer throws(CloudError) in
                writer.key("zones")
                writer.beginArray()
                for zone in zones { writer.zone(zone.zoneID) { _ in } }
                writer.endArray()
            }
        case .modifySubscriptions(let result):
            return success { writer throws(CloudError) in
                writer.key("subscriptions")
                writer.beginArray()
                for (id, result) in result.saveResults {
                    writer.object(id, "subscriptionID") { $0.failure(result.error) }
                }
                for (id, error) in result.deleteResults {
                    writer.object(id, "subscriptionID") { $0.failure(error) }
                }
                writer.endArray()
            }
        case .allSubscriptions(let subscriptions):
            return success { writer throws(CloudError) in
                writer.key("subscriptions")
                writer.beginArray()
                for subscription in subscriptions {
                    writer.object(subscription.subscriptionID, "subscriptionID") { writer in
                        guard case .zone(let zoneID) = subscription.kind else { return }
                        writer.text("subscriptionType", "zone")
                        writer.key("zoneID")
                        writer.zoneID(zoneID)
                    }
                }
                writer.endArray()
            }
        case .failure(let error):
            if error.code == .changeTokenExpired, let zoneID {
                return success { writer throws(CloudError) in
                    writer.key("zones")
                    writer.beginArray()
                    writer.zone(zoneID) { $0.failure(error) }
                    writer.endArray()
                }
            }
            return .refusal(error)
        case .done: return .refusal(CloudError(.internalError))
        }
    }

    private static func answer(_ changes: ZoneChanges, _ zoneID: ZoneID) -> WebAnswer {
        success { writer throws(CloudError) in
            writer.key("zones")
            writer.beginArray()
            writer.beginObject()
            writer.key("zoneID")
            // Answers name the owner.
            writer.zoneID(ZoneID(zoneName: zoneID.zoneName, ownerName: "_alice"))
            writer.position(changes.changeToken, changes.moreComing)
            writer.key("records")
            writer.beginArray()
            for (id, result) in changes.modifications.sorted(by: { $0.key < $1.key }) {
                try writer.item(id, result)
            }
            for deletion in changes.deletions {
                writer.object(deletion.recordID.recordName, "recordName") { writer in
                    writer.text("recordType", deletion.recordType)
                    writer.deleted()
                }
            }
            writer.endArray()
            writer.endObject()
            writer.endArray()
        }
    }

    static func refusal(_ error: CloudError) -> WebAnswer {
        var answer = success { $0.failure(error) }
        answer.status = error.webStatus
        answer.retryAfter = error.retryAfter
        return answer
    }

    static func success(_ members: (inout JSONWriter) throws(CloudError) -> Void) -> WebAnswer {
        var writer = JSONWriter()
        do {
            try writer.object(members)
            return WebAnswer(status: 200, json: try WebJSON(writer.bytes))
        } catch {
            return WebAnswer(status: 500, json: nil)
        }
    }
}

extension CloudError {
    /// The services' code and status.
    fileprivate var web: (code: String, status: Int) {
        switch code {
        case .batchRequestFailed: ("ATOMIC_ERROR", 400)
        case .changeTokenExpired: ("BAD_REQUEST", 400)
        case .invalidArguments: ("BAD_REQUEST", 400)
        case .limitExceeded: ("LIMIT_EXCEEDED", 413)
        case .notAuthenticated: ("AUTHENTICATION_REQUIRED", 421)
        case .quotaExceeded: ("QUOTA_EXCEEDED", 413)
        case .referenceViolation: ("VALIDATING_REFERENCE_ERROR", 412)
        case .serverRecordChanged: ("CONFLICT", 409)
        case .unknownItem: ("NOT_FOUND", 404)
        case .zoneNotFound, .userDeletedZone: ("ZONE_NOT_FOUND", 404)
        default: ("INTERNAL_ERROR", 500)
        }
    }

    fileprivate var webStatus: Int { web.status }
}

extension JSONWriter {
    fileprivate mutating func object(_ name: String, _ key: String, _ members: (inout JSONWriter) -> Void) {
        beginObject()
        text(key, name)
        members(&self)
        endObject()
    }

    fileprivate mutating func zone(_ zoneID: ZoneID, _ members: (inout JSONWriter) -> Void) {
        beginObject()
        key("zoneID")
        self.zoneID(ZoneID(zoneName: zoneID.zoneName))
        members(&self)
        endObject()
    }

    fileprivate mutating func deleted() {
        key("deleted")
        bool(true)
    }

    fileprivate mutating func failure(_ error: CloudError?) {
        guard let error else { return }
        text("serverErrorCode", error.web.code)
        text("reason", error.code == .changeTokenExpired ? "Unknown sync continuation type" : error.message)
    }

    fileprivate mutating func position(_ token: ChangeToken, _ moreComing: Bool) {
        text("syncToken", token.data.base64EncodedString())
        key("moreComing")
        bool(moreComing)
    }

    fileprivate mutating func item(_ id: RecordID, _ result: Result<Record, CloudError>) throws(CloudError) {
        switch result {
        case .failure(let error): object(id.recordName, "recordName") { $0.failure(error) }
        case .success(let record):
            try object { writer throws(CloudError) in
                writer.text("recordName", record.recordID.recordName)
                writer.text("recordType", record.recordType)
                writer.text("recordChangeTag", record.recordChangeTag)
                try writer.fields(of: record, clears: false)
                writer.parent(record.parent)
                let fields = record.systemFields
                writer.moment("created", fields?.creationDate, fields?.creatorUserRecordName)
                writer.moment("modified", fields?.modificationDate, fields?.lastModifiedUserRecordName)
            }
        }
    }

    private mutating func moment(_ name: String, _ date: Date?, _ user: String?) {
        guard let milliseconds = date?.milliseconds else { return }
        key(name)
        beginObject()
        key("timestamp")
        int(milliseconds)
        text("userRecordName", user)
        endObject()
    }
}
