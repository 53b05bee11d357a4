import struct Foundation.Date

extension Record {
    /// A hash of the model's fields, which is the same in every process and independent of the fields' order.
    ///
    /// Reserved fields, nulls and empty lists do not count, so the hash stays the same if a server drops
    /// them.
    package var contentHash: UInt64 { fields.contentHash }
}

extension [String: RecordValue] {
    /// A hash of the model's fields; see ``Record/contentHash``.
    package var contentHash: UInt64 {
        // A sum does not depend on the order of the dictionary's entries.
        var sum: UInt64 = 0
        for (name, value) in self where !value.isNothing && !ReservedField.isReserved(name) {
            var hash = StableHash()
            hash.combine(name)
            value.combine(into: &hash)
            sum &+= hash.value
        }
        var hash = StableHash()
        hash.combine(sum)
        return hash.value
    }
}

extension RecordValue {
    /// Adds the kind as a number, which never changes, and the value.
    fileprivate func combine(into hash: inout StableHash) {
        switch self {
        case .string(let string):
            hash.combine(1)
            hash.combine(string)
        case .int64(let integer):
            hash.combine(2)
            hash.combine(UInt64(bitPattern: integer))
        case .double(let double):
            hash.combine(3)
            hash.combine(double.bitPattern)
        case .date(let date):
            hash.combine(4)
            date.combine(into: &hash)
        case .bytes(let data):
            hash.combine(5)
            data.withUnsafeBytes { hash.combine($0) }
        case .reference(let reference):
            hash.combine(6)
            reference.combine(into: &hash)
        case .location(let location):
            hash.combine(7)
            location.combine(into: &hash)
        case .asset(let asset):
            hash.combine(8)
            asset.combine(into: &hash)
        case .list(let values):
            hash.combine(9)
            hash.combine(UInt64(values.count))
            for value in values { value.combine(into: &hash) }
        case .null:
            hash.combine(10)
        }
    }
}

extension Date {
    fileprivate func combine(into hash: inout StableHash) {
        hash.combine(milliseconds.map(UInt64.init(bitPattern:)) ?? timeIntervalSinceReferenceDate.bitPattern)
    }
}

extension RecordReference {
    fileprivate func combine(into hash: inout StableHash) {
        hash.combine(recordName)
        hash.combine(zoneID?.zoneName ?? "")
        hash.combine(zoneID?.ownerName ?? "")
        hash.combine(action.rawValue)
    }
}

extension RecordLocation {
    fileprivate func combine(into hash: inout StableHash) {
        for number in numbers {
            hash.combine(number == nil ? 0 : 1)
            hash.combine(number?.bitPattern ?? 0)
        }
        hash.combine(timestamp == nil ? 0 : 1)
        timestamp?.combine(into: &hash)
    }
}

extension RecordAsset {
    fileprivate func combine(into hash: inout StableHash) {
        hash.combine(identifyingURL?.absoluteString ?? "")
        hash.combine(fileChecksum ?? "")
        hash.combine(UInt64(bitPattern: size ?? -1))
    }
}
