import RecordCoding

/// A small number for a record type, valid in one state in memory and never stored.
package struct RecordTypeNumber: Hashable, Sendable {
    package let number: UInt32

    /// The type of a record that was never fetched nor changed here.
    static let unknown = RecordTypeNumber(number: 0)
}

/// The record types of a state, and an index of the records by type.
///
/// While all records have one type, the index is the table of records itself; from the second type on, it
/// lists the records of each type.
struct RecordTypes: Sendable {
    /// The types in the order in which they were met; the first has number 1.
    private(set) var names: [ExactName] = []
    /// The number of records of each type.
    private var counts: [Int] = []
    /// The records of each type; empty while there is at most one type.
    private var members: [RecordTable<Bool>] = []

    /// Whether the records of each type are listed.
    var isDivided: Bool { !members.isEmpty }

    func name(of type: RecordTypeNumber) -> ExactName? {
        type == .unknown ? nil : names[Int(type.number) - 1]
    }

    func number(of name: ExactName) -> RecordTypeNumber? {
        names.firstIndex(of: name).map { RecordTypeNumber(number: UInt32($0) + 1) }
    }

    /// The number of a type, which is assigned when the type is first met.
    mutating func met(_ name: ExactName) -> RecordTypeNumber {
        if let number = number(of: name) { return number }
        names.append(name)
        counts.append(0)
        if isDivided { members.append(RecordTable()) }
        return RecordTypeNumber(number: UInt32(names.count))
    }

    /// The records of a type, in order, given all records.
    ///
    /// Complexity: O(n log n) in the records of that type.
    func sortedKeys(of type: RecordTypeNumber, in records: RecordRows) -> [RecordKey] {
        if type == .unknown { return [] }
        if isDivided { return members[Int(type.number) - 1].sortedKeys }
        let count = counts[Int(type.number) - 1]
        if count == 0 { return [] }
        if count == records.count { return records.sortedKeys }
        // The only type, apart from records that were never fetched nor changed.
        return records.sortedKeys.filter { records[$0]?.type == type }
    }

    /// Moves a record from one type to another; `nil` means that the state doesn't have the record.
    ///
    /// - Parameters:
    ///   - key: The record.
    ///   - former: Its former type.
    ///   - type: Its new type.
    ///   - records: All records, with the new type.
    mutating func move(
        _ key: RecordKey,
        from former: RecordTypeNumber?,
        to type: RecordTypeNumber?,
        _ records: RecordRows
    ) {
        if former == type { return }
        if let former, former != .unknown { remove(key, former) }
        if let type, type != .unknown { add(key, type, records) }
    }

    private mutating func remove(_ key: RecordKey, _ type: RecordTypeNumber) {
        counts[Int(type.number) - 1] -= 1
        if isDivided { members[Int(type.number) - 1][key] = nil }
    }

    private mutating func add(
        _ key: RecordKey,
        _ type: RecordTypeNumber,
        _ records: RecordRows
    ) {
        counts[Int(type.number) - 1] += 1
        if isDivided {
            members[Int(type.number) - 1][key] = true
        } else if counts.count(where: { $0 > 0 }) > 1 {
            divide(records)
        }
    }

    /// Counts records that a snapshot has.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of records by type.
    ///   - records: All records, these included.
    mutating func adopt(_ numbers: [(type: RecordTypeNumber, count: Int)], _ records: RecordRows) {
        for (type, count) in numbers { counts[Int(type.number) - 1] += count }
        if isDivided || counts.count(where: { $0 > 0 }) > 1 { divide(records) }
    }

    /// Lists the records of each type, because there is a second one.
    private mutating func divide(_ records: RecordRows) {
        members = names.map { _ in RecordTable() }
        for key in records.sortedKeys {
            guard let type = records[key]?.type, type != .unknown else { continue }
            members[Int(type.number) - 1][key] = true
        }
    }
}

/// The record types of a state.
extension SyncState {
    /// The records of a type, in order; with `nil`, all records.
    ///
    /// Complexity: O(n log n) in the records of that type.
    package func sortedKeys(of type: ExactName?) -> [RecordKey] {
        guard let type else { return records.sortedKeys }
        return types.number(of: type).map { types.sortedKeys(of: $0, in: records) } ?? []
    }

    /// A record's type; `nil` if it was never fetched nor changed here.
    package func recordType(of key: RecordKey) -> ExactName? {
        self[key].flatMap { types.name(of: $0.type) }
    }
}
