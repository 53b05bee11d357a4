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
    var accountGeneration: Int { 0 }
    var signals: AsyncStream<CloudSignal> { AsyncStream { $0.finish() } }

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
        guard let json = try? WebJSON(request.body) else { return .refusal(CloudError(.invalidArguments)) }
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
        case "users/current": return .success { $0.text("userRecordName", "_alice") }
        default: return .refusal(CloudError(.invalidArguments))
        }
    }

    private func modifyRecords(_ json: WebJSON) -> WebAnswer {
        guard let zoneID = json["zoneID"].flatMap(ZoneID.init(web:)),
            let operations = json["operations"]?.array
        else { return .refusal(CloudError(.invalidArguments)) }
        var (saving, deleting): ([Record], [RecordID]) = ([], [])
        var isForced = false
        for operation in operations {
            guard let type = operation["operationType"]?.string,
                case .object(var members)? = operation["record"],
                let name = members["recordName"]?.string
            else { return .refusal(CloudError(.invalidArguments)) }
            if type == "forceDelete" {
                deleting.append(RecordID(recordName: name, zoneID: zoneID))
                continue
            }
            if type == "forceUpdate" { isForced = true }
            let isTagged = type == "update"
            if !isTagged { members["recordChangeTag"] = .string("none") }
            guard case .record(var record) = WebReader(zoneID: zoneID).item(.object(members)) else {
                return .refusal(CloudError(.invalidArguments))
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
            return .refusal(CloudError(.invalidArguments))
        }
        let ids = records.compactMap { $0["recordName"]?.string }.map {
            RecordID(recordName: $0, zoneID: zoneID)
        }
        return perform(.records(ids, desiredKeys: json["desiredKeys"]?.array?.compactMap(\.string)), zoneID)
    }

    private func zoneChanges(_ json: WebJSON) -> WebAnswer {
        guard let zone = json["zones"]?.array?.first, let zoneID = zone["zoneID"].flatMap(ZoneID.init(web:))
        else {
            return .refusal(CloudError(.invalidArguments))
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
        return WebAnswer(response, zoneID)
    }
}

extension ChangeToken {
    fileprivate init(emulated text: String) { self.init(Data(base64Encoded: text) ?? Data(text.utf8)) }
}
