import struct Foundation.Date

extension RecordValue {
    /// The kind of a value without the value; see the cases of ``RecordValue``.
    package enum Kind: String, Hashable, Sendable {
        case string, int64, double, date, bytes, reference, location, asset, list, null
    }

    /// The kind of this value.
    package var kind: Kind {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .date: .date
        case .bytes: .bytes
        case .reference: .reference
        case .location: .location
        case .asset: .asset
        case .list: .list
        case .null: .null
        }
    }

    /// The kind of a list's elements, or of any other value.
    var elementKind: Kind {
        if case .list(let values) = self { values.first?.kind ?? .list } else { kind }
    }

    /// Whether the value is null or an empty list, which some servers do not distinguish from an absent
    /// field.
    package var isNothing: Bool {
        switch self {
        case .null: true
        case .list(let values): values.isEmpty
        default: false
        }
    }

    /// Whether a server may hold one value in place of the other: null, absent and an empty list are equal.
    ///
    /// - Parameter other: The value to compare with.
    /// - Returns: Whether both are nothing, or identical.
    package func isSame(as other: RecordValue) -> Bool {
        isNothing ? other.isNothing : isIdentical(to: other)
    }

    /// Whether two values are identical, with dates compared to the millisecond.
    ///
    /// `==` is too loose for strings and numbers: it treats different Unicode forms as equal, and -0.0 and
    /// 0.0. It is too strict for dates: it treats dates as different that are stored as the same millisecond.
    ///
    /// - Parameter other: The value to compare with.
    /// - Returns: Whether storing one in place of the other changes nothing.
    package func isIdentical(to other: RecordValue) -> Bool {
        switch (self, other) {
        case (.string(let mine), .string(let theirs)): mine.isIdentical(to: theirs)
        case (.int64(let mine), .int64(let theirs)): mine == theirs
        case (.bytes(let mine), .bytes(let theirs)): mine == theirs
        case (.null, .null): true
        case (.double(let mine), .double(let theirs)): mine.bitPattern == theirs.bitPattern
        case (.date(let mine), .date(let theirs)): mine.isIdentical(to: theirs)
        case (.location(let mine), .location(let theirs)): mine.isIdentical(to: theirs)
        case (.list(let mine), .list(let theirs)):
            mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isIdentical(to: $1) }
        default: self == other
        }
    }
}

extension RecordLocation {
    fileprivate func isIdentical(to other: RecordLocation) -> Bool {
        guard numbers.map(\.?.bitPattern) == other.numbers.map(\.?.bitPattern) else { return false }
        guard let timestamp, let theirs = other.timestamp else { return timestamp == other.timestamp }
        return timestamp.isIdentical(to: theirs)
    }
}

extension Date {
    fileprivate func isIdentical(to other: Date) -> Bool {
        milliseconds == other.milliseconds && (milliseconds != nil || self == other)
    }
}
