import RecordCoding

/// Values by record name, made for large states: a change after a copy costs one shard, never the whole table.
///
/// A plain dictionary is copied whole by the first change after a copy. Names are told apart by their bytes, and spread
/// over shards by a hash that is the same in every process; iteration is in the order of the names, so that the same
/// events give the same actions.
package struct RecordTable<Value: Sendable>: Sendable {
    private static var shardCount: Int { 1024 }

    /// None before the first value comes: many tables are made, and stay empty.
    private var shards: [[ExactName: Value]] = []
    /// The number of names that have a value.
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The value of a name; setting `nil` removes it.
    ///
    /// Complexity: O(1).
    package subscript(name: String) -> Value? {
        get { shards.isEmpty ? nil : shards[Self.shard(of: name)][named: name] }
        set {
            if shards.isEmpty {
                if newValue == nil { return }
                makeShards()
            }
            let shard = Self.shard(of: name)
            let before = shards[shard].count
            shards[shard][named: name] = newValue
            count += shards[shard].count - before
        }
    }

    /// The value of a name, or another one where there is none yet; made to be changed in place.
    subscript(name: String, default value: @autoclosure () -> Value) -> Value {
        get { self[name] ?? value() }
        _modify {
            if shards.isEmpty { makeShards() }
            let shard = Self.shard(of: name)
            let before = shards[shard].count
            defer { count += shards[shard].count - before }
            yield &shards[shard][named: name, default: value()]
        }
    }

    /// All names in order.
    ///
    /// Complexity: O(n log n); for listings, not for changes.
    package var sortedNames: [String] {
        var names: [ExactName] = []
        names.reserveCapacity(count)
        for shard in shards { names.append(contentsOf: shard.keys) }
        names.sort()
        return names.map(\.text)
    }

    private mutating func makeShards() {
        shards = Array(repeating: [:], count: Self.shardCount)
    }

    /// FNV-1a over the name's bytes: stable over processes, unlike `Hasher`.
    private static func shard(of name: String) -> Int {
        var hash: UInt32 = 2_166_136_261
        for byte in name.utf8 {
            hash = (hash ^ UInt32(byte)) &* 16_777_619
        }
        return Int(hash & UInt32(shardCount - 1))
    }
}

extension RecordTable: Equatable where Value: Equatable {
    package static func == (lhs: RecordTable, rhs: RecordTable) -> Bool {
        lhs.count == rhs.count && (lhs.isEmpty || lhs.shards == rhs.shards)
    }
}
