/// Records of the files that nothing is left to do about, each read when somebody asks for it.
package protocol SettledRecords: AnyObject, Sendable {
    /// The number of records.
    var count: Int { get }

    /// The keys in order.
    var sortedKeys: [RecordKey] { get }

    /// Whether it has a record, which may have changed since.
    func contains(_ key: RecordKey) -> Bool

    /// A record as the files have it.
    subscript(key: RecordKey) -> RecordState? { get }
}

/// All records of a state: those that were changed since the files were opened, or wait for something, over those
/// that are settled.
///
/// A copy costs nothing, and a change to a copy copies only what is near the record.
package struct RecordRows: Sendable {
    private var settled: (any SettledRecords)?
    /// The records above; `nil` for one that is gone.
    private var changed = RecordTable<RecordState?>()
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The record of a key; setting `nil` removes it.
    ///
    /// Complexity: O(log n).
    package subscript(key: RecordKey) -> RecordState? {
        get { changed[key] ?? settled?[key] }
        set {
            let isBelow = settled?.contains(key) == true
            let was = changed[key].map { $0 != nil } ?? isBelow
            count += (newValue == nil ? 0 : 1) - (was ? 1 : 0)
            changed[key] = newValue == nil && !isBelow ? nil : .some(newValue)
        }
    }

    /// All keys in order.
    ///
    /// Complexity: O(n log n); for listings, not for changes.
    package var sortedKeys: [RecordKey] {
        let above = changed.sortedKeys
        guard let settled else { return above }
        let below = changed.isEmpty ? settled.sortedKeys : settled.sortedKeys.filter { changed[$0] == nil }
        return Self.merged(below, above.filter { changed[$0] != .some(nil) })
    }

    /// The keys of two lists in order, in order.
    package static func merged(_ first: [RecordKey], _ second: [RecordKey]) -> [RecordKey] {
        if first.isEmpty || second.isEmpty { return first + second }
        var merged: [RecordKey] = []
        merged.reserveCapacity(first.count + second.count)
        var rest = second[...]
        for key in first {
            while let next = rest.first, next < key { merged.append(rest.removeFirst()) }
            merged.append(key)
        }
        return merged + rest
    }

    /// Puts settled records below.
    ///
    /// - Returns: Those of them that were changed before.
    mutating func adopt(_ settled: any SettledRecords) -> [RecordKey] {
        self.settled = settled
        let changed = changed.keys.filter(settled.contains)
        count += settled.count - changed.count
        return changed
    }
}

extension RecordRows: Equatable {
    package static func == (lhs: RecordRows, rhs: RecordRows) -> Bool {
        let keys = lhs.sortedKeys
        return lhs.count == rhs.count && keys == rhs.sortedKeys && keys.allSatisfy { lhs[$0] == rhs[$0] }
    }
}
