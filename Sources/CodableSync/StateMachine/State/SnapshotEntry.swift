import RecordCoding

/// The entries of a snapshot, which together describe a whole state.
package enum SnapshotEntry: Equatable, Sendable {
    /// The parts of the state that belong neither to a record nor to a zone.
    case summary(StateSummary)
    /// A zone's whole state.
    case zone(ZoneNumber, ZoneState)
    /// A record's type, if it is known, and its whole state.
    case record(RecordKey, type: ExactName?, RecordState)
}

extension SyncState {
    mutating func apply(snapshot entry: SnapshotEntry) {
        switch entry {
        case .summary(let summary): changeSummary { $0 = summary }
        case .zone(let number, let zone):
            changeZone(number) { former in
                let zoneID = zone.zoneID ?? former.zoneID
                former = zone
                former.zoneID = zoneID
            }
        case .record(let key, let type, var record):
            record.known = record.known.map { judged($0, of: type) }
            record.lost = record.lost.map { judged($0, of: type) }
            if !record.isTooNew { record.kept = nil }
            change(key, of: type) { former in
                let type = former.type
                former = record
                former.type = type
            }
        }
    }
}
