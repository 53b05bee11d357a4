public import struct Foundation.URL

/// A file in a field of a record; its bytes are transferred separately.
public struct RecordAsset: Hashable, Sendable, Codable {
    /// The file on this device; `nil` if the bytes have not been fetched.
    public var fileURL: URL?

    /// The database's checksum of the bytes; `nil` before they were uploaded.
    public var fileChecksum: String?

    /// The size in bytes; `nil` if unknown.
    public var size: Int64?

    /// Makes an asset value.
    ///
    /// - Parameters:
    ///   - fileURL: The file on this device.
    ///   - fileChecksum: The database's checksum of the bytes.
    ///   - size: The size in bytes.
    public init(fileURL: URL? = nil, fileChecksum: String? = nil, size: Int64? = nil) {
        self.fileURL = fileURL
        self.fileChecksum = fileChecksum
        self.size = size
    }
}
