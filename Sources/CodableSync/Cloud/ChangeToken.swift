public import struct Foundation.Data

/// An opaque position in the history of a zone or a database; it can be stored, but not ordered.
public struct ChangeToken: Hashable, Sendable {
    /// The database's own bytes.
    public var data: Data
    /// Change tags that the client knows: the newest one, and those of its own saves since it got the token.
    ///
    /// A database that never issued one of these was restored from a backup. Tokens that differ only in them are equal.
    package var knownChangeTags: [String] = []

    /// Wraps a database's own bytes.
    ///
    /// - Parameter data: The bytes.
    public init(_ data: Data) {
        self.data = data
    }

    /// Whether two tokens mark the same position.
    public static func == (one: ChangeToken, other: ChangeToken) -> Bool { one.data == other.data }

    /// Hashes the position.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(data) }
}
