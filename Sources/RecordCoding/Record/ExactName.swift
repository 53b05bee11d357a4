/// A name that is compared by its bytes, as servers compare names.
///
/// Swift's strings are equal if they look the same: `"caf\u{E9}" == "cafe\u{301}"`, and even `"K" == "\u{212A}"`. In
/// a table with strings as its keys one record would take the place of the other.
package struct ExactName: Hashable, Sendable {
    /// The name.
    package let text: String

    /// Makes a key of a name.
    ///
    /// - Parameter text: The name.
    package init(_ text: String) {
        self.text = text
    }

    package static func == (lhs: ExactName, rhs: ExactName) -> Bool { lhs.text.isIdentical(to: rhs.text) }
}

extension ExactName: Comparable {
    package static func < (lhs: ExactName, rhs: ExactName) -> Bool { lhs.text.precedes(rhs.text) }
}

extension String {
    /// Whether both strings have the same bytes of UTF-8.
    ///
    /// What is equal here is equal by `==`, so that the hash of a string goes with either.
    ///
    /// - Parameter other: The string to compare with.
    /// - Returns: Whether they are the same, byte by byte.
    package func isIdentical(to other: String) -> Bool {
        withBytes(of: other) { $0.count == $1.count && $0.isIdentical(to: $1) }
            ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the bytes of this string come before those of another: an order without any other meaning.
    ///
    /// - Parameter other: The string to compare with.
    /// - Returns: Whether this one comes first.
    package func precedes(_ other: String) -> Bool {
        withBytes(of: other) { $0.lexicographicallyPrecedes($1) }
            ?? utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// Looks at the bytes of two strings where they are; `nil` if one of them has to be copied for it.
    @inline(__always)
    private func withBytes(
        of other: String,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool? {
        utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in body(mine, theirs) }
        } ?? nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether as many bytes here are the same, eight at a time: names are compared at each look into a table.
    @inline(__always)
    fileprivate func isIdentical(to other: UnsafeBufferPointer<UInt8>) -> Bool {
        if baseAddress == other.baseAddress { return true }
        let (mine, theirs) = (UnsafeRawBufferPointer(self), UnsafeRawBufferPointer(other))
        var offset = 0
        while count - offset >= 8 {
            let word = mine.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if word != theirs.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
            offset += 8
        }
        return mine[offset...].elementsEqual(theirs[offset...])
    }
}

extension Dictionary where Key == ExactName {
    /// The value of a name, compared by its bytes.
    package subscript(named name: String) -> Value? {
        get { self[ExactName(name)] }
        _modify { yield &self[ExactName(name)] }
    }

    /// The value of a name, or another one where there is none yet.
    package subscript(named name: String, default value: @autoclosure () -> Value) -> Value {
        get { self[ExactName(name), default: value()] }
        _modify { yield &self[ExactName(name), default: value()] }
    }
}
