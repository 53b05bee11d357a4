public import struct Foundation.Data

/// An opaque position in the history of a zone or a database; it can be stored, but not ordered.
public struct ChangeToken: Hashable, Sendable {
    /// The database's own bytes.
    public var data: Data
    /// The newest change tag that the client knows; the engine sets it for each request.
    ///
    /// It covers the client's own saves since it got the token. A database that never issued this tag was
    /// restored from a backup: one that can detect this throws `zoneNotFound`; others ignore the tag. Tokens
    /// that differ only in this tag are equal.
    public var knownChangeTag: String?

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
