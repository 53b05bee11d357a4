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

/// A line of the journal: a row, which replaces the former one, or a fact about all rows before it.
///
/// A turn that changes a few records writes their rows, so that no rule but those of facts runs when the journal is
/// read.
package enum StateLine: Equatable, Sendable {
    case row(StateRow)
    case fact(StateFact)
}

/// What a turn has changed, as lines of the journal.
package struct StateLines: Equatable, Sendable {
    package var lines: [StateLine] = []
    /// Handles that the lines name and that no row named before.
    package var introduced: [ContentHandle] = []

    package init(_ lines: [StateLine] = [], introduced: [ContentHandle] = []) {
        self.lines = lines
        self.introduced = introduced
    }
}

extension SyncState {
    /// Applies entries, and gives the lines that store what they changed.
    package mutating func applyWriting(_ entries: [JournalEntry]) -> StateLines {
        var lines = StateLines()
        beginImage()
        for entry in entries { apply(entry, writing: &lines) }
        writeRows(to: &lines)
        image = nil
        return lines
    }

    /// Applies an entry, and writes it if it is a fact, behind the rows that changed before.
    mutating func apply(_ entry: JournalEntry, writing lines: inout StateLines) {
        guard case .fact(let fact) = entry else { return apply(entry) }
        // The numbers that it gives away go on from those before.
        writeRows(to: &lines, withSummary: fact.numbersChanges)
        apply(fact: fact)
        lines.lines.append(.fact(fact))
        image?.mark(summary, streams)
    }

    /// Writes the rows that changed since this was last done, in the order of their last changes.
    ///
    /// - Parameters:
    ///   - lines: The lines so far.
    ///   - withSummary: Whether to write the summary's row even if it has not changed.
    mutating func writeRows(to lines: inout StateLines, withSummary: Bool = false) {
        guard let image else { return }
        defer { self.image?.mark(summary, streams) }
        var keys: [RecordKey] = []
        var met = RecordTable<Bool>()
        for former in image.records[image.marked.records...].reversed() where met[former.key] == nil {
            met[former.key] = true
            keys.append(former.key)
        }
        for former in image.records[image.marked.records...] where met[former.key] == true {
            met[former.key] = false
            let named = former.record?.handles ?? []
            lines.introduced += (self[former.key]?.handles ?? []).filter { !named.contains($0) }
        }
        for key in keys.reversed() {
            lines.lines.append(.row(.record(key, type: recordType(of: key), self[key])))
        }
        var zones = ZoneTable<Bool>()
        for number in image.zones[image.marked.zones...] { zones[number] = true }
        for number in zones.numbers {
            lines.lines.append(.row(.zone(number, zone(number))))
        }
        let noteCount = min(image.noteCount - image.marked.notes, notes.count)
        lines.lines += notes.suffix(noteCount).map { .row(.note($0)) }
        var former = image.marked.summary
        // The records' rows have the numbers.
        if !withSummary { former.lastNumber = summary.lastNumber }
        if summary != former || withSummary { lines.lines.append(.row(.summary(summary))) }
        if streams != image.marked.streams { lines.lines.append(.row(.streams(streams))) }
    }

    package mutating func apply(line: StateLine) {
        switch line {
        case .row(let row): apply(row: row)
        case .fact(let fact): apply(fact: fact)
        }
    }

    mutating func apply(row: StateRow) {
        switch row {
        case .summary(let summary): apply(summary: summary)
        case .streams(let streams): apply(streams: streams)
        case .zone(let number, let zone):
            changeZone(number) { former in
                let zoneID = zone.zoneID ?? former.zoneID
                former = zone
                former.zoneID = zoneID
            }
        case .record(let key, let type, let record): apply(record: record, of: type, at: key)
        case .note(let note): keep(note)
        }
    }

    private mutating func apply(summary: StateSummary) {
        let former = self.summary
        changeSummary { $0 = summary }
        // Only if the line of the fact is damaged, they do not agree with the records.
        for schema in summary.schemas where !former.schemas.contains(schema) { judgeAgain(schema) }
    }

    private mutating func apply(streams: StreamRow) {
        changeStreams { $0 = streams }
        changeSummary { $0.lastNumber = max($0.lastNumber, streams.accepted) }
    }

    private mutating func apply(record: RecordState?, of type: ExactName?, at key: RecordKey) {
        var record = record ?? RecordState()
        record.server.changeVersion { $0 = judged($0, of: type) }
        if !record.isTooNew { record.kept = nil }
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
