extension Record {
    /// The size of the field data that counts towards ``RecordLimits/maximumRecordBytes``, in bytes.
    ///
    /// CloudKit doesn't document how it counts. This size counts the UTF-8 of a string, 8 for a number or
    /// date, the bytes of data, the names of a reference, 8 for each number of a location, the sum of a
    /// list's elements, and 0 for a file or null. It includes the engine's own fields.
    ///
    /// - Complexity: O(*n*), where *n* is the number of values.
    public var size: Int { fields.size }
}

extension [String: RecordValue] {
    /// The sum of the sizes of the values.
    var size: Int { values.reduce(0) { $0 + $1.size } }
}

extension RecordValue {
    /// The size of this value in a record in bytes; see ``Record/size``.
    public var size: Int {
        switch self {
        case .string(let string): string.utf8.count
        case .int64, .double, .date: 8
        case .bytes(let data): data.count
        case .reference(let reference): reference.size
        case .location(let location):
            8 * (location.numbers.count { $0 != nil } + (location.timestamp == nil ? 0 : 1))
        case .asset, .null: 0
        case .list(let values): values.size
        }
    }
}

extension [RecordValue] {
    /// The sum of the sizes; lists of numbers may be long, so their elements are counted in place.
    fileprivate var size: Int {
        withUnsafeBufferPointer { values in
            var size = 0
            for index in values.indices {
                if case .double = values[index] { size += 8 } else { size += values[index].size }
            }
            return size
        }
    }
}

extension RecordReference {
    fileprivate var size: Int {
        recordName.utf8.count + (zoneID.map { $0.zoneName.utf8.count + $0.ownerName.utf8.count } ?? 0)
    }
}
