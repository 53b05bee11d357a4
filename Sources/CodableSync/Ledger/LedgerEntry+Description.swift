import RecordCoding

@_spi(Server) extension LedgerEntry: CustomStringConvertible {
    /// Whose database changed, and how: `"alice": Note "A1" saved`; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        let owner = user.isEmpty ? "all users" : user.quoted
        return "\(owner)\(scope == .private ? "" : " (\(scope.rawValue))"): \(change)"
    }
}

@_spi(Server) extension LedgerEntry.Change: CustomStringConvertible {
    /// The change in words; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .recordSaved(let record): "\(record) saved"
        case .recordDeleted(let name, _, let type): "\(type) \(name.quoted) deleted"
        case .zoneCreated(let zoneID): "zone \(zoneID) created"
        case .zoneRemoved(let zoneID, let reason, _): "zone \(zoneID) \(reason)"
        case .subscriptionSaved(let subscription): "\(subscription) saved"
        case .subscriptionDeleted(let name): "subscription \(name.quoted) deleted"
        case .tokensExpired(let zoneID):
            "change tokens of \(zoneID?.description ?? "the database") expired"
        case .quotaChanged(let bytes): bytes.map { "quota set to \($0.counted("byte"))" } ?? "quota removed"
        case .fieldTypesFixed(let recordType, let types):
            "\(recordType) has \(types.count.counted("new field"))"
        case .epochBegan(_, let sequence): "epoch began at change \(sequence)"
        case .countersAdvanced(let sequence, _): "counters advanced to change \(sequence)"
        }
    }
}
