import Foundation

/// A name that is compared by its bytes, as servers compare names.
///
/// Swift's strings are equal if they are canonically equivalent: `"caf\u{E9}" == "cafe\u{301}"`, and even
/// `"K" == "\u{212A}"`. In a dictionary with string keys, one such record would replace the other.
///
/// A name carries the hash of its bytes, so that no string is hashed twice.
package struct ExactName: Hashable, Sendable {
    /// The name.
    package let text: String
    /// The hash of the name's bytes, which is the same in every process.
    package let digest: UInt32

    /// Creates a key from a name, and computes its hash.
    ///
    /// - Parameter text: The name.
    package init(_ text: String) {
        self.text = text
        digest = UInt32(truncatingIfNeeded: StableHash.of(text))
    }

    /// The hash of a name's bytes.
    ///
    /// - Parameter bytes: The bytes in UTF-8.
    /// - Returns: The digest of a name with these bytes.
    package static func digest(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: StableHash.of(bytes))
    }

    package static func == (lhs: ExactName, rhs: ExactName) -> Bool {
        lhs.digest == rhs.digest && lhs.text.isIdentical(to: rhs.text)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension ExactName: Comparable {
    package static func < (lhs: ExactName, rhs: ExactName) -> Bool { lhs.text.precedes(rhs.text) }
}

extension String {
    /// Whether both strings have the same UTF-8 bytes.
    ///
    /// - Parameter other: The string to compare with.
    /// - Returns: Whether they are the same, byte by byte.
    package func isIdentical(to other: String) -> Bool {
        utf8.count == other.utf8.count && compareBytes(with: other) == 0
    }

    /// Whether this string comes before another in the order of bytes, which has no other meaning.
    ///
    /// - Parameter other: The string to compare with.
    /// - Returns: Whether this one comes first.
    package func precedes(_ other: String) -> Bool { compareBytes(with: other) < 0 }

    /// Compares the bytes in place, since every look-up in a table compares names.
    private func compareBytes(with other: String) -> Int {
        withBytes { mine in other.withBytes { String.compare(mine, $0) } }
    }

    private static func compare(
        _ mine: UnsafeBufferPointer<UInt8>,
        _ theirs: UnsafeBufferPointer<UInt8>
    ) -> Int {
        let count = Swift.min(mine.count, theirs.count)
        guard count > 0, let mineStart = mine.baseAddress, let theirStart = theirs.baseAddress else {
            return mine.count - theirs.count
        }
        let order = Int(memcmp(mineStart, theirStart, count))
        return order == 0 ? mine.count - theirs.count : order
    }
}

extension Dictionary where Key == ExactName {
    /// The value of a name, compared by its bytes.
    package subscript(named name: String) -> Value? {
        get { self[ExactName(name)] }
        _modify { yield &self[ExactName(name)] }
    }

    /// The value of a name, or a default value if there is none.
    package subscript(named name: String, default value: @autoclosure () -> Value) -> Value {
        get { self[ExactName(name), default: value()] }
        _modify { yield &self[ExactName(name), default: value()] }
    }
}
