import RecordCoding

@_spi(Server) extension LedgerRequest: CustomStringConvertible {
    /// Who requests what: `"alice": save 2 records`; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        "\(user.quoted)\(scope == .private ? "" : " (\(scope.rawValue))"): \(operation)"
    }
}

@_spi(Server) extension LedgerRequest.Operation: CustomStringConvertible {
    /// The operation in words: `save 2 records, delete 1 record`; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .modifyRecords(let saving, let deleting, _, _, _, _):
            modify(saving.count, deleting.count, "record")
        case .records(let ids, _): "look up \(ids.count.counted("record"))"
        case .modifyRecordZones(let saving, let deleting): modify(saving.count, deleting.count, "zone")
        case .recordZones(let ids): "look up \(ids.count.counted("zone"))"
        case .allZones: "list the zones"
        case .databaseChanges(let token, _): "fetch changes of the database" + since(token)
        case .recordZoneChanges(let zoneID, let token, _, _): "fetch changes of \(zoneID)" + since(token)
        case .modifySubscriptions(let saving, let deleting):
            modify(saving.count, deleting.count, "subscription")
        case .allSubscriptions: "list the subscriptions"
        case .removeZone(let zoneID, let reason): "remove \(zoneID): \(reason)"
        case .expireTokens(let zoneID): "expire the change tokens of \(zoneID?.description ?? "the database")"
        case .setQuota(let bytes):
            bytes.map { "set the quota to \($0.counted("byte"))" } ?? "remove the quota"
        }
    }

    private func modify(_ saved: Int, _ deleted: Int, _ noun: String) -> String {
        let parts = [(saved, "save"), (deleted, "delete")].filter { $0.0 > 0 }
        return parts.isEmpty
            ? "change no \(noun)s" : parts.map { "\($0.1) \($0.0.counted(noun))" }.joined(separator: ", ")
    }

    private func since(_ token: ChangeToken?) -> String { token.map { " since \($0)" } ?? "" }
}

@_spi(Server) extension LedgerResponse: CustomStringConvertible {
    /// The response in words: `2 saved`, or the error; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .modifyRecords(let result): "records: \(result)"
        case .records(let results): "\(found(results.values)) of \(results.count.counted("record")) found"
        case .modifyRecordZones(let result): "zones: \(result)"
        case .recordZones(let results): "\(found(results.values)) of \(results.count.counted("zone")) found"
        case .allZones(let zones): zones.count.counted("zone")
        case .databaseChanges(let page): "\(page)"
        case .recordZoneChanges(let page): "\(page)"
        case .modifySubscriptions(let result): "subscriptions: \(result)"
        case .allSubscriptions(let subscriptions): subscriptions.count.counted("subscription")
        case .done: "done"
        case .failure(let error): "failed: \(error)"
        }
    }

    private func found<Value>(_ results: some Collection<Result<Value, CloudError>>) -> Int {
        results.count(where: \.didSucceed)
    }
}
