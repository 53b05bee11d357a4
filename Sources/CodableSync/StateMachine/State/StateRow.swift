import RecordCoding

/// A row of the durable state: what is, not how it came to be.
package enum StateRow: Equatable, Sendable {
    /// The parts of the state that belong neither to a record nor to a zone.
    case summary(StateSummary)
    /// How far streams are, what they hold, and what earlier processes died over.
    case streams(StreamRow)
    /// A zone's whole state.
    case zone(ZoneNumber, ZoneState)
    /// A record's type, if it is known, and its whole state; `nil` if there is nothing left to store.
    case record(RecordKey, type: ExactName?, RecordState?)
    /// A note for the diagnostics.
    case note(SyncNote)
}

extension SyncState {
    /// What has changed since ``beginImage()``, the records in the order of their last changes.
    ///
    /// The summary is the first row, since it says which versions of the records this app can read.
    var changes: TurnChanges {
        var changes = TurnChanges()
        guard let image else { return changes }
        changes.mustFlush = image.mustFlush
        changes.removesRecords = image.removesRecords
        var former = image.summary
        // The records' rows have the numbers.
        former.lastNumber = summary.lastNumber
        if summary != former { changes.rows.append(.summary(summary)) }
        var keys: [RecordKey] = []
        var met = RecordTable<Bool>()
        for key in image.keys.reversed() where met[key] == nil {
            met[key] = true
            keys.append(key)
        }
        for key in keys.reversed() {
            let named = image.records[key]?.handles ?? []
            changes.introduced += (self[key]?.handles ?? []).filter { !named.contains($0) }
            changes.rows.append(.record(key, type: recordType(of: key), self[key]))
        }
        var zones = ZoneTable<Bool>()
        for number in image.zones { zones[number] = true }
        changes.rows += zones.numbers.map { .zone($0, zone($0)) }
        changes.rows += notes.suffix(min(image.noteCount, notes.count)).map { .note($0) }
        if streams != image.streams { changes.rows.append(.streams(streams)) }
        return changes
    }

    package mutating func apply(row: StateRow) {
        switch row {
        case .summary(let summary): apply(summary: summary)
        case .streams(let streams): apply(streams: streams)
        case .zone(let number, let zone):
            changeZone(number) { former in
                let zoneID = zone.zoneID ?? former.zoneID
                former = zone
                former.zoneID = zoneID
            }
            // The versions of a zone that was lost are those of another history.
            let isLost = [.unknown, .unreadable].contains(zone.stage)
            if isLost, knownCount(in: number) == 0 { forgetNewest(in: number) }
        case .record(let key, let type, let record): apply(record: record, of: type, at: key)
        case .note(let note): keep(note)
        }
    }

    private mutating func apply(summary: StateSummary) {
        let former = self.summary
        changeSummary { $0 = summary }
        for schema in summary.schemas where !former.schemas.contains(schema) {
            let before = former.schemas.first { $0.type == schema.type }
            // Only damage takes the rows that follow for each of them.
            for key in keysToJudge(schema, after: before) {
                change(key) { $0.mark(isTooNew: $0.isTooNew(for: schema)) }
            }
        }
    }

    private mutating func apply(streams: StreamRow) {
        changeStreams { $0 = streams }
        changeSummary { $0.lastNumber = max($0.lastNumber, streams.accepted) }
    }

    private mutating func apply(record: RecordState?, of type: ExactName?, at key: RecordKey) {
        if record == nil { noteGone() }
        var record = record ?? RecordState()
        if let last = record.lastKnown { record.mark(isTooNew: isTooNew(last, of: type)) }
        if let number = record.news?.number {
            changeSummary { $0.lastNumber = max($0.lastNumber, number) }
            // Only damage gives a number to two records.
            if let other = untold[number], other != key {
                changeSummary { $0.lastNumber &+= 1 }
                record.news?.number = summary.lastNumber
            }
        }
        change(key, of: type) { former in
            let number = type == nil ? .unknown : former.type
            former = record
            former.type = number
        }
    }
}
