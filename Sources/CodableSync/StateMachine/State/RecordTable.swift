import RecordCoding

/// A table by record key: a copy costs nothing, and a change to a copy copies only what is near the record.
///
/// The order of its entries is the same in every process.
package struct RecordTable<Value: Sendable>: Sendable {
    fileprivate struct Row: Sendable {
        var key: RecordKey
        var value: Value
    }

    /// The rows by the digest of their keys; rows of the same digest are in the order of their keys.
    private var rows = NumberTrie<[Row]>()
    /// The number of keys that have a value.
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The value of a key; setting `nil` removes it.
    ///
    /// Complexity: O(log n).
    package subscript(key: RecordKey) -> Value? {
        get { rows[UInt64(key.digest)]?.first { $0.key == key }?.value }
        set {
            var difference = 0
            rows.change(UInt64(key.digest)) { difference = Self.set(newValue, of: key, &$0) }
            count += difference
        }
    }

    /// All keys in order.
    ///
    /// Complexity: O(n log n); for listings, not for changes.
    package var sortedKeys: [RecordKey] {
        var keys = keys
        keys.sort()
        return keys
    }

    /// All keys, in an order that is the same in every process.
    var keys: [RecordKey] {
        var keys: [RecordKey] = []
        keys.reserveCapacity(count)
        for entry in rows { for row in entry.value { keys.append(row.key) } }
        return keys
    }

    /// Sets a value among the rows of one digest, and returns the change of their number.
    private static func set(_ value: Value?, of key: RecordKey, _ rows: inout [Row]?) -> Int {
        // Mostly, no other key has the digest.
        if let value, rows.map({ $0.count == 1 && $0[0].key == key }) ?? true {
            defer { rows = [Row(key: key, value: value)] }
            return rows == nil ? 1 : 0
        }
        var found = rows ?? []
        let index = found.firstIndex { $0.key >= key } ?? found.count
        let isThere = index < found.count && found[index].key == key
        switch (isThere, value) {
        case (true, let value?): found[index].value = value
        case (true, nil): found.remove(at: index)
        case (false, let value?): found.insert(Row(key: key, value: value), at: index)
        case (false, nil): return 0
        }
        rows = found.isEmpty ? nil : found
        return (value == nil ? 0 : 1) - (isThere ? 1 : 0)
    }
}

extension RecordTable.Row: Equatable where Value: Equatable {}

extension RecordTable: Equatable where Value: Equatable {
    package static func == (lhs: RecordTable, rhs: RecordTable) -> Bool { lhs.rows == rhs.rows }
}
