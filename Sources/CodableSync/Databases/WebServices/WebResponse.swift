import RecordCoding

import struct Foundation.Data

/// Reads the responses of CloudKit Web Services, except their records, which ``WebReader`` reads.
///
/// Nothing counts as done that a response does not say is done.
enum WebResponse {
    /// The results of `records/modify`, for the records of one zone.
    ///
    /// - Parameters:
    ///   - json: The body.
    ///   - saving: The records of the request.
    ///   - deleting: The names of the deleted records.
    ///   - reader: The reader for the zone.
    /// - Returns: A result for each; one that the response does not mention, or mentions in a form that can't be used,
    ///   is a lost response. A conflict has no server record: the services don't send it.
    static func modifiedRecords(
        _ json: WebJSON,
        saving: [RecordID],
        deleting: [RecordID],
        _ reader: WebReader
    ) -> ModifyRecordsResult {
        let items = named(json["records"]?.array, reader)
        var result = ModifyRecordsResult()
        for recordID in saving {
            switch items[ExactName(recordID.recordName)] {
            case .record(let record): result.saveResults[recordID] = .success(record)
            case .failure(_, let error): result.saveResults[recordID] = .failure(error)
            case .deletion, .unusable, nil: result.saveResults[recordID] = .failure(.unmentioned)
            }
        }
        for recordID in deleting {
            switch items[ExactName(recordID.recordName)] {
            case .deletion: result.deleteResults[recordID] = .some(nil)
            // Uncertain: the live service may answer a deletion of a missing record with either.
            case .failure(_, let error) where error.code == .unknownItem:
                result.deleteResults[recordID] = .some(nil)
            case .failure(_, let error): result.deleteResults[recordID] = error
            case .record, .unusable, nil: result.deleteResults[recordID] = .unmentioned
            }
        }
        return result
    }

    /// The results of `records/lookup`.
    static func records(
        _ json: WebJSON,
        for recordIDs: [RecordID],
        _ reader: WebReader
    ) -> [RecordID: Result<Record, CloudError>] {
        let items = named(json["records"]?.array, reader)
        var results: [RecordID: Result<Record, CloudError>] = [:]
        for recordID in recordIDs {
            switch items[ExactName(recordID.recordName)] {
            case .record(let record): results[recordID] = .success(record)
            case .failure(_, let error): results[recordID] = .failure(error)
            case .deletion: results[recordID] = .failure(CloudError(.unknownItem))
            case .unusable, nil: results[recordID] = .failure(.unmentioned)
            }
        }
        return results
    }

    private static func named(_ items: [WebJSON]?, _ reader: WebReader) -> [ExactName: WebReader.Item] {
        var named: [ExactName: WebReader.Item] = [:]
        for json in items ?? [] {
            if let name = json["recordName"]?.string { named[ExactName(name)] = reader.item(json) }
        }
        return named
    }

    /// A page of `changes/zone` for one zone.
    ///
    /// - Parameters:
    ///   - json: The body.
    ///   - reader: The reader for the zone.
    ///   - hadToken: Whether the request had a token, so that a refusal may be about it.
    /// - Returns: The page.
    /// - Throws: The zone's error; `changeTokenExpired` for a token that can no longer be used; `serverResponseLost` for
    ///   a page without a position, which must not be taken for the end, or with a change that has no name.
    static func zoneChanges(_ json: WebJSON, _ reader: WebReader, hadToken: Bool) throws(CloudError)
        -> ZoneChanges
    {
        let zones = json["zones"]?.array ?? []
        let found = zones.first { zone in
            zone["zoneID"].flatMap(ZoneID.init(web:))?.isSameZone(as: reader.zoneID) == true
        }
        guard let zone = found else { throw .malformed("zones") }
        if hadToken, CloudError.isTokenExpired(zone) { throw CloudError(.changeTokenExpired) }
        if let error = CloudError(webItem: zone) { throw error }
        let position = try position(of: zone)
        var changes = ZoneChanges(
            modifications: [:],
            deletions: [],
            changeToken: position.token,
            moreComing: position.moreComing
        )
        let records = zone["records"] ?? .array([])
        guard let items = records.array else { throw .malformed("records") }
        // The position would leave a change without a name behind.
        guard items.allSatisfy({ $0["recordName"]?.string?.isEmpty == false }) else {
            throw .malformed("recordName")
        }
        // A record may be named twice; its last state counts.
        for (name, item) in named(items, reader) {
            let recordID = RecordID(recordName: name.text, zoneID: reader.zoneID)
            switch item {
            case .record(let record): changes.modifications[recordID] = .success(record)
            case .failure(_, let error): changes.modifications[recordID] = .failure(error)
            case .deletion(_, let type):
                changes.deletions.append(ZoneChanges.Deletion(recordID: recordID, recordType: type ?? ""))
            case .unusable: break
            }
        }
        changes.deletions.sort { $0.recordID < $1.recordID }
        return changes
    }

    /// A page of `changes/database`.
    ///
    /// - Parameter json: The body.
    /// - Returns: The page. The zones' own tokens are their latest ones, no positions of this device, and are ignored.
    /// - Throws: `serverResponseLost` for a page without a position, or with a zone that has no name.
    static func databaseChanges(_ json: WebJSON) throws(CloudError) -> DatabaseChanges {
        guard let zones = json["zones"]?.array else { throw .malformed("zones") }
        let position = try position(of: json)
        var changes = DatabaseChanges(
            modifications: [],
            deletions: [],
            changeToken: position.token,
            moreComing: position.moreComing
        )
        for zone in zones {
            // The position would leave it behind.
            guard let zoneID = zone["zoneID"].flatMap(ZoneID.init(web:)) else { throw .malformed("zoneID") }
            // A zone that can't be described now is fetched, and its error found there.
            if zone["deleted"]?.bool == true, CloudError(webItem: zone) == nil {
                changes.deletions.append(
                    DatabaseChanges.Deletion(
                        zoneID: zoneID,
                        reason: .init(web: zone["deletionReason"]?.string)
                    )
                )
            } else {
                changes.modifications.append(zoneID)
            }
        }
        return changes
    }

    private static func position(of json: WebJSON) throws(CloudError) -> (
        token: ChangeToken, moreComing: Bool
    ) {
        // An empty token would be answered as if nothing had changed; a huge one would be stored with each page.
        guard let token = json["syncToken"]?.string, 1...maximumTokenSize ~= token.utf8.count else {
            throw .malformed("syncToken")
        }
        switch json["moreComing"] {
        // The live service writes null, too.
        case nil: return (ChangeToken(web: token), false)
        case .bool(let moreComing): return (ChangeToken(web: token), moreComing)
        default: throw .malformed("moreComing")
        }
    }

    private static var maximumTokenSize: Int { 1 << 16 }

    /// The results of `subscriptions/modify`.
    static func subscriptions(_ json: WebJSON) throws(CloudError) -> [(id: String, error: CloudError?)] {
        guard let items = json["subscriptions"]?.array else { throw .malformed("subscriptions") }
        return items.compactMap { item in
            item["subscriptionID"]?.string.map { ($0, CloudError(webItem: item)) }
        }
    }

    /// The zones of `zones/lookup`, `zones/list` and `zones/modify`, each with what the response says of it.
    static func zones(_ json: WebJSON) throws(CloudError) -> [(
        zoneID: ZoneID, error: CloudError?, isDeleted: Bool
    )] {
        guard let zones = json["zones"]?.array else { throw .malformed("zones") }
        return zones.compactMap { zone in
            guard let zoneID = zone["zoneID"].flatMap(ZoneID.init(web:)) else { return nil }
            return (zoneID, CloudError(webItem: zone), zone["deleted"]?.bool == true)
        }
    }
}

extension ChangeToken {
    /// A position as the services write it, which is an opaque text.
    init(web token: String) {
        self.init(Data(token.utf8))
    }

    /// The text for the services; `nil` for a token that is not theirs.
    var web: String? { String(validating: data, as: UTF8.self) }
}

extension DatabaseChanges.Deletion.Reason {
    /// The services don't say why a zone is gone; a server of this project does, by an additional key.
    fileprivate init(web name: String?) {
        switch name {
        case "PURGED": self = .purged
        case "ENCRYPTED_DATA_RESET": self = .encryptedDataReset
        default: self = .deleted
        }
    }
}

extension CloudError {
    /// An item that a response should mention.
    fileprivate static var unmentioned: CloudError {
        CloudError(.serverResponseLost, message: "The response doesn't mention the item.")
    }
}
