public import struct Foundation.Data

/// A position in the history of a zone or of a database: opaque, without order, safe to store.
public struct ChangeToken: Hashable, Sendable {
    /// The database's own bytes.
    public var data: Data

    /// Wraps a database's own bytes.
    ///
    /// - Parameter data: The bytes.
    public init(_ data: Data) {
        self.data = data
    }
}
