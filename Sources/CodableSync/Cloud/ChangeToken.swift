public import struct Foundation.Data

/// An opaque position in the history of a zone or a database; it is unordered and safe to store.
public struct ChangeToken: Hashable, Sendable {
    /// The database's own bytes.
    public var data: Data
    /// The newest change tag that the client knows; the engine sets it for each request.
    ///
    /// The token itself does not cover what the client has saved since it got the token. A database that
    /// never issued this tag was restored from a backup, and throws `zoneNotFound` if it can tell; other
    /// databases ignore the tag. The tag is not part of the position: tokens that differ only in their tags
    /// are equal.
    public var knownChangeTag: String?

    /// Wraps a database's own bytes.
    ///
    /// - Parameter data: The bytes.
    public init(_ data: Data) {
        self.data = data
    }

    /// Whether two tokens name the same position.
    public static func == (one: ChangeToken, other: ChangeToken) -> Bool { one.data == other.data }

    /// Hashes the position.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(data) }
}
