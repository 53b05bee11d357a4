import RecordCoding

/// One zone of one user, and the history of its records.
struct LedgerZone: Sendable {
    /// The newest change of a record name.
    enum Row: Sendable {
        case record(Record, sequence: Int64)
        case deletion(recordType: String, sequence: Int64)

        var sequence: Int64 {
            switch self {
            case .record(_, let sequence), .deletion(_, let sequence): sequence
            }
        }

        var record: Record? {
            if case .record(let record, _) = self { return record }
            return nil
        }
    }

    /// The position of one change; it is stale once the record has changed again.
    struct Position: Sendable {
        var sequence: Int64
        var recordName: String
    }

    var head: LedgerZoneHead
    private(set) var rows: [ExactName: Row] = [:]
    private(set) var links = LedgerLinks()
    private var positions: [Position] = []
    private var staleCount = 0

    init(_ head: LedgerZoneHead) { self.head = head }

    /// Whether a change with this sequence can follow the existing ones.
    func canTake(_ sequence: Int64) -> Bool {
        // Sequences start at 1; the first record of the default zone has the zone's own sequence.
        head.removal == nil && sequence > positions.last?.sequence ?? max(0, head.incarnation - 1)
    }

    mutating func save(_ record: Record, sequence: Int64) {
        let name = ExactName(record.recordID.recordName)
        let old = rows.updateValue(.record(record, sequence: sequence), forKey: name)
        if let old = old?.record { links.remove(old) }
        links.add(record)
        append(name.text, sequence, replacing: old)
    }

    mutating func delete(_ name: String, recordType: String, sequence: Int64) {
        let row = Row.deletion(recordType: recordType, sequence: sequence)
        let old = rows.updateValue(row, forKey: ExactName(name))
        if let old = old?.record { links.remove(old) }
        append(name, sequence, replacing: old)
    }

    /// Drops deletions that no client can request any more.
    mutating func dropDeletions() {
        rows = rows.filter { $0.value.record != nil }
        dropStalePositions()
    }

    private mutating func append(_ name: String, _ sequence: Int64, replacing old: Row?) {
        positions.append(Position(sequence: sequence, recordName: name))
        guard old != nil else { return }
        staleCount += 1
        // Done when half of the positions are stale, so that each change costs O(1) on average.
        if staleCount > 32, staleCount > positions.count / 2 { dropStalePositions() }
    }

    private mutating func dropStalePositions() {
        positions = positions.filter { rows[named: $0.recordName]?.sequence == $0.sequence }
        staleCount = 0
    }

    /// The newest changes of the records after a sequence, in order; stale positions are skipped.
    func rows(after sequence: Int64) -> some Sequence<(name: String, row: Row)> {
        var low = 0
        var high = positions.count
        while low < high {
            let middle = low + (high - low) / 2
            if positions[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return positions[low...].lazy.compactMap { position in
            guard let row = rows[named: position.recordName], row.sequence == position.sequence else {
                return nil
            }
            return (position.recordName, row)
        }
    }
}
