import Foundation

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// CloudKit Web Services in memory: a ledger behind the services' JSON, which every request and answer goes through.
final class EmulatedWebServices: WebConnection, @unchecked Sendable {
    private let lock = NSLock()
    private var ledger: CloudLedger
    private var log: [String] = []
    private var fault: ((WebRequest) throws(CloudError) -> WebAnswer?)?

    init(_ options: LedgerOptions = LedgerOptions()) {
        var options = options
        // As the services answer.
        options.conflictsCarryServerRecord = false
        ledger = CloudLedger(identifier: "emulated", options: options)
    }

    var identifier: String { "emulated" }

    /// The operations of all requests, in order.
    var operations: [String] { lock.withLock { log } }

    /// Answers instead of the services; `nil` leaves a request to them.
    func answer(instead: (@Sendable (WebRequest) throws(CloudError) -> WebAnswer?)?) {
        lock.withLock { fault = instead }
    }

    func answer(to request: WebRequest) async throws(CloudError) -> WebAnswer {
        let result = lock.withLock { () -> Result<WebAnswer, CloudError> in
            log.append(request.operation)
            do throws(CloudError) {
                if let answer = try fault?(request) { return .success(answer) }
                return .success(try respond(to: request))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    // MARK: Requests

    private func respond(to request: WebRequest) throws(CloudError) -> WebAnswer {
        guard let json = try? WebJSON(request.body) else { return refusal(CloudError(.invalidArguments)) }
        switch request.operation {
        case "records/modify": return modifyRecords(json)
        case "records/lookup": return lookUp(json)
        case "changes/zone": return zoneChanges(json)
        case "changes/database": return databaseChanges(json)
        case "zones/modify": return modifyZones(json)
        case "zones/lookup": return lookUpZones(json)
        case "zones/list": return perform(.allZones)
        case "subscriptions/modify": return modifySubscriptions(json)
        case "subscriptions/list": return perform(.allSubscriptions)
        case "users/current": return answer { $0.text("userRecordName", "_alice") }
        default: return refusal(CloudError(.invalidArguments))
        }
    }

    private func modifyRecords(_ json: WebJSON) -> WebAnswer {
        guard let zoneID = json["zoneID"].flatMap(ZoneID.init(web:)),
            let operations = json["operations"]?.array
        else { return refusal(CloudError(.invalidArguments)) }
        var (saving, deleting): ([Record], [RecordID]) = ([], [])
        var isForced = false
        for operation in operations {
            guard let type = operation["operationType"]?.string,
                case .object(var members)? = operation["record"],
                let name = members["recordName"]?.string
            else { return refusal(CloudError(.invalidArguments)) }
            if type == "forceDelete" {
                deleting.append(RecordID(recordName: name, zoneID: zoneID))
                continue
            }
            if type == "forceUpdate" { isForced = true }
            let isTagged = type == "update"
            if !isTagged { members["recordChangeTag"] = .string("none") }
            guard case .record(var record) = WebReader(zoneID: zoneID).item(.object(members)) else {
                return refusal(CloudError(.invalidArguments))
            }
            if !isTagged { record.systemFields = nil }
            // The reader leaves out what is null.
            for (field, value) in members["fields"]?.object ?? [:] where value["value"] == nil {
                record.fields[field] = .null
            }
            saving.append(record)
        }
        let operation = LedgerRequest.Operation.modifyRecords(
            saving: saving,
            deleting: deleting,
            savePolicy: isForced ? .changedKeys : .ifServerRecordUnchanged,
            atomically: json["atomic"]?.bool ?? false
        )
        return perform(operation, zoneID)
    }

    private func lookUp(_ json: WebJSON) -> WebAnswer {
        guard let zoneID = json["zoneID"].flatMap(ZoneID.init(web:)), let records = json["records"]?.array
        else {
            return refusal(CloudError(.invalidArguments))
        }
        let ids = records.compactMap { $0["recordName"]?.string }.map {
            RecordID(recordName: $0, zoneID: zoneID)
        }
        return perform(.records(ids, desiredKeys: json["desiredKeys"]?.array?.compactMap(\.string)), zoneID)
    }

    private func zoneChanges(_ json: WebJSON) -> WebAnswer {
        guard let zone = json["zones"]?.array?.first, let zoneID = zone["zoneID"].flatMap(ZoneID.init(web:))
        else {
            return refusal(CloudError(.invalidArguments))
        }
        let operation = LedgerRequest.Operation.recordZoneChanges(
            zoneID,
            since: zone["syncToken"]?.string.map(ChangeToken.init(emulated:)),
            desiredKeys: zone["desiredKeys"]?.array?.compactMap(\.string),
            resultsLimit: zone["resultsLimit"]?.int.map { Int($0) }
        )
        return perform(operation, zoneID)
    }

    private func databaseChanges(_ json: WebJSON) -> WebAnswer {
        perform(
            .databaseChanges(
                since: json["syncToken"]?.string.map(ChangeToken.init(emulated:)),
                resultsLimit: json["resultsLimit"]?.int.map { Int($0) }
            )
        )
    }

    private func modifyZones(_ json: WebJSON) -> WebAnswer {
        var (saving, deleting): ([RecordZone], [ZoneID]) = ([], [])
        for operation in json["operations"]?.array ?? [] {
            guard let zoneID = operation["zone"]?["zoneID"].flatMap(ZoneID.init(web:)) else { continue }
            if operation["operationType"]?.string == "delete" {
                deleting.append(zoneID)
            } else {
                saving.append(RecordZone(zoneID: zoneID))
            }
        }
        return perform(.modifyRecordZones(saving: saving, deleting: deleting))
    }

    private func lookUpZones(_ json: WebJSON) -> WebAnswer {
        perform(.recordZones((json["zones"]?.array ?? []).compactMap(ZoneID.init(web:))))
    }

    private func modifySubscriptions(_ json: WebJSON) -> WebAnswer {
        var (saving, deleting): ([CloudSubscription], [String]) = ([], [])
        for operation in json["operations"]?.array ?? [] {
            guard let subscription = operation["subscription"],
                let id = subscription["subscriptionID"]?.string
            else {
                continue
            }
            if operation["operationType"]?.string == "delete" {
                deleting.append(id)
            } else if let zoneID = subscription["zoneID"].flatMap(ZoneID.init(web:)) {
                saving.append(CloudSubscription(subscriptionID: id, kind: .zone(zoneID)))
            }
        }
        return perform(.modifySubscriptions(saving: saving, deleting: deleting))
    }

    // MARK: Answers

    private func perform(_ operation: LedgerRequest.Operation, _ zoneID: ZoneID? = nil) -> WebAnswer {
        let request = LedgerRequest(user: "_alice", operation: operation)
        let (response, entries) = ledger.handle(request, at: Date(), epoch: 1)
        for entry in entries { ledger.apply(entry) }
        return answer(response, zoneID)
    }

    private func answer(_ response: LedgerResponse, _ zoneID: ZoneID?) -> WebAnswer {
        switch response {
        case .modifyRecords(let result):
            return answer { writer throws(CloudError) in
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
                return refusal(CloudError(.zoneNotFound, message: zoneID.zoneName))
            }
            return answer { writer throws(CloudError) in
                try writer.list("records", results.sorted { $0.key < $1.key }) {
                    writer,
                    pair throws(CloudError) in
                    try writer.item(pair.key, pair.value)
                }
            }
        case .recordZoneChanges(let changes): return answer(changes, zoneID ?? .default)
        case .databaseChanges(let changes):
            return answer { writer throws(CloudError) in
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
            return answer { writer throws(CloudError) in
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
            return answer { writer throws(CloudError) in
                writer.key("zones")
                writer.beginArray()
                for (zoneID, result) in results { writer.zone(zoneID) { $0.failure(result.error) } }
                writer.endArray()
            }
        case .allZones(let zones):
            return answer { writer throws(CloudError) in
                writer.key("zones")
                writer.beginArray()
                for zone in zones { writer.zone(zone.zoneID) { _ in } }
                writer.endArray()
            }
        case .modifySubscriptions(let result):
            return answer { writer throws(CloudError) in
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
            return answer { writer throws(CloudError) in
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
                return answer { writer throws(CloudError) in
                    writer.key("zones")
                    writer.beginArray()
                    writer.zone(zoneID) { $0.failure(error) }
                    writer.endArray()
                }
            }
            return refusal(error)
        case .done: return refusal(CloudError(.internalError))
        }
    }

    private func answer(_ changes: ZoneChanges, _ zoneID: ZoneID) -> WebAnswer {
        answer { writer throws(CloudError) in
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

    private func refusal(_ error: CloudError) -> WebAnswer {
        var answer = answer { $0.failure(error) }
        answer.status = error.webStatus
        answer.retryAfter = error.retryAfter
        return answer
    }

    private func answer(_ members: (inout JSONWriter) throws(CloudError) -> Void) -> WebAnswer {
        var writer = JSONWriter()
        do {
            try writer.object(members)
            return WebAnswer(status: 200, json: try WebJSON(writer.bytes))
        } catch {
            return WebAnswer(status: 500, json: nil)
        }
    }
}

extension ChangeToken {
    fileprivate init(emulated text: String) { self.init(Data(base64Encoded: text) ?? Data(text.utf8)) }
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
