public import struct Foundation.URL

/// A file that belongs to one field of one record; its bytes travel apart from the record.
public struct RecordAsset: Hashable, Sendable, Codable {
    /// Where the bytes are on this device; `nil` if they have not been fetched.
    public var fileURL: URL?

    /// The database's checksum of the bytes; `nil` before they were uploaded.
    public var fileChecksum: String?

    /// The number of bytes; `nil` if not known.
    public var size: Int64?

    /// Makes an asset value.
    ///
    /// - Parameters:
    ///   - fileURL: Where the bytes are on this device.
    ///   - fileChecksum: The database's checksum of the bytes.
    ///   - size: The number of bytes.
    public init(fileURL: URL? = nil, fileChecksum: String? = nil, size: Int64? = nil) {
        self.fileURL = fileURL
        self.fileChecksum = fileChecksum
        self.size = size
    }
}
