import RecordCoding

/// A dictionary by record key for large states: the first change after a copy copies one shard, not the whole
/// table.
///
/// A hash that is the same in every process assigns keys to shards. Iteration follows the order of the keys,
/// so the same inputs give the same actions.
package struct RecordTable<Value: Sendable>: Sendable {
    private static var shardCount: Int { 1024 }
    /// Up to this many values stay in one shard, since most tables are small.
    private static var largestSingleShard: Int { 64 }

    /// No shard before the first value, then one, and all shards once that one is full.
    private var shards: [[RecordKey: Value]] = []
    /// The number of keys that have a value.
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The value of a key; setting `nil` removes it.
    ///
    /// Complexity: O(1).
    package subscript(key: RecordKey) -> Value? {
        get { shards.isEmpty ? nil : shards[shard(of: key)][key] }
        set {
            if newValue == nil, shards.isEmpty { return }
            makeRoom()
            let shard = shard(of: key)
            let before = shards[shard].count
            shards[shard][key] = newValue
            count += shards[shard].count - before
        }
    }

    /// The value of a key, or a default value if there is none, to be changed in place.
    subscript(key: RecordKey, default value: @autoclosure () -> Value) -> Value {
        get { self[key] ?? value() }
        _modify {
            makeRoom()
            let shard = shard(of: key)
            let before = shards[shard].count
            defer { count += shards[shard].count - before }
            yield &shards[shard][key, default: value()]
        }
    }

    /// All keys in order.
    ///
    /// Complexity: O(n log n); for listings, not for changes.
    package var sortedKeys: [RecordKey] {
        var keys: [RecordKey] = []
        keys.reserveCapacity(count)
        for shard in shards { keys.append(contentsOf: shard.keys) }
        keys.sort()
        return keys
    }

    /// Makes room for one more value.
    private mutating func makeRoom() {
        if shards.isEmpty { return shards = [[:]] }
        guard shards.count == 1, count >= Self.largestSingleShard else { return }
        let values = shards[0]
        shards = Array(repeating: [:], count: Self.shardCount)
        for (key, value) in values { shards[shard(of: key)][key] = value }
    }

    private func shard(of key: RecordKey) -> Int {
        shards.count == 1 ? 0 : Int(key.digest & UInt32(Self.shardCount - 1))
    }
}

extension RecordTable: Equatable where Value: Equatable {
    package static func == (lhs: RecordTable, rhs: RecordTable) -> Bool {
        if lhs.count != rhs.count { return false }
        if lhs.isEmpty { return true }
        if lhs.shards.count == rhs.shards.count { return lhs.shards == rhs.shards }
        return lhs.shards.allSatisfy { shard in shard.allSatisfy { rhs[$0.key] == $0.value } }
    }
}
