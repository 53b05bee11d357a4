public import struct Foundation.Data

/// A position in the history of a zone or of a database: opaque, without order, safe to store.
public struct ChangeToken: Hashable, Sendable {
    /// The database's own bytes.
    public var data: Data
    /// The change tag of the newest version that the client has got, where it adds it to the token of a request.
    ///
    /// What a client has saved since the token was given, the token does not vouch for. A database that can tell refuses
    /// both where it never gave such a version: it was put back to an earlier copy. It is no part of the position, and
    /// tokens that differ in nothing else are equal.
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
