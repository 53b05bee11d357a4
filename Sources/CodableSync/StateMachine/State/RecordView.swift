import RecordCoding

/// A snapshot of a state's records for readers elsewhere; while it exists, the first change to each shard
/// copies the shard.
package struct RecordView: Sendable {
    private let records: RecordRows
    private let types: RecordTypes
    private let zone: ZoneNumber

    fileprivate init(_ records: RecordRows, _ types: RecordTypes, _ zone: ZoneNumber) {
        self.records = records
        self.types = types
        self.zone = zone
    }

    package subscript(key: RecordKey) -> RecordState? { records[key] }

    /// The key of the record that the app names.
    package func key(_ name: String) -> RecordKey { RecordKey(zone: zone, name: ExactName(name)) }

    /// The records of a type, in order.
    ///
    /// Complexity: O(n log n) in the records of that type.
    package func sortedKeys(of type: ExactName) -> [RecordKey] {
        types.number(of: type).map { types.sortedKeys(of: $0, in: records) } ?? []
    }
}

extension SyncState {
    package var recordView: RecordView { RecordView(records, types, engineZone) }
}
