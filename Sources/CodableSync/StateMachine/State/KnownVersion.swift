import struct Foundation.Date

/// A version of a record on the server, as far as this device knows it.
package struct KnownVersion: Equatable, Sendable {
    package var changeTag: String
    /// Where the whole record is stored.
    package var handle: ContentHandle
    /// The hash of the contents without the engine's own fields.
    package var hash: UInt64
    /// When the server saved the version, by the server's clock.
    package var modified: Date?
    /// Whether its schema version is above what this app can read; the state derives this.
    package var isTooNew = false
    /// The version of the model's schema that wrote it.
    package var schema: SchemaVersion
    /// The size of its fields in bytes; 0 if unknown.
    package var size: Int

    package init(
        changeTag: String,
        handle: ContentHandle,
        hash: UInt64,
        modified: Date?,
        size: Int = 0,
        schema: SchemaVersion = .first
    ) {
        self.changeTag = changeTag
        self.handle = handle
        self.hash = hash
        self.modified = modified
        self.size = size
        self.schema = schema
    }
}
