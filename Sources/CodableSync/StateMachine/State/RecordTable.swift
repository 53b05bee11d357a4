import RecordCoding

/// A dictionary by record name for large states: the first change after a copy copies one shard, not the
/// whole table.
///
/// Names are compared by their bytes and distributed over shards by a hash that is the same in every process.
/// Iteration is in the order of the names, so that the same inputs give the same actions.
package struct RecordTable<Value: Sendable>: Sendable {
    private static var shardCount: Int { 1024 }
    /// Up to this many values stay in one shard, since most tables are small.
    private static var largestSingleShard: Int { 64 }

    /// No shard before the first value, then one, and all shards once that one is full.
    private var shards: [[ExactName: Value]] = []
    /// The number of names that have a value.
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The value of a name; setting `nil` removes it.
    ///
    /// Complexity: O(1).
    package subscript(name: String) -> Value? {
        get { shards.isEmpty ? nil : shards[shard(of: name)][named: name] }
        set {
            if newValue == nil, shards.isEmpty { return }
            makeRoom()
            let shard = shard(of: name)
            let before = shards[shard].count
            shards[shard][named: name] = newValue
            count += shards[shard].count - before
        }
    }

    /// The value of a name, or a default value if there is none, to be changed in place.
    subscript(name: String, default value: @autoclosure () -> Value) -> Value {
        get { self[name] ?? value() }
        _modify {
            makeRoom()
            let shard = shard(of: name)
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

    /// Makes room for one more value.
    private mutating func makeRoom() {
        if shards.isEmpty { return shards = [[:]] }
        guard shards.count == 1, count >= Self.largestSingleShard else { return }
        let values = shards[0]
        shards = Array(repeating: [:], count: Self.shardCount)
        for (name, value) in values { shards[shard(of: name.text)][name] = value }
    }

    /// The shard by FNV-1a over the name's bytes, which is stable across processes, unlike `Hasher`.
    private func shard(of name: String) -> Int {
        if shards.count == 1 { return 0 }
        var name = name
        let hash = name.withUTF8 { text in
            let bytes = UnsafeRawBufferPointer(text)
            var hash: UInt32 = 2_166_136_261
            var index = 0
            while index < bytes.count {
                hash = (hash ^ UInt32(bytes[index])) &* 16_777_619
                index += 1
            }
            return hash
        }
        return Int(hash & UInt32(Self.shardCount - 1))
    }
}

extension RecordTable: Equatable where Value: Equatable {
    package static func == (lhs: RecordTable, rhs: RecordTable) -> Bool {
        if lhs.count != rhs.count { return false }
        if lhs.isEmpty { return true }
        if lhs.shards.count == rhs.shards.count { return lhs.shards == rhs.shards }
        return lhs.shards.allSatisfy { shard in shard.allSatisfy { rhs[$0.key.text] == $0.value } }
    }
}
