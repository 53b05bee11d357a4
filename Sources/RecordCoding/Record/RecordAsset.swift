package import struct Foundation.URL

/// A file in a field of a record; its bytes are transferred separately.
///
/// Assets are equal if their checksums and sizes are.
public struct RecordAsset: Hashable, Sendable, Codable {
    /// The file on this device; `nil` if the bytes have not been fetched.
    package var fileURL: URL?

    /// The database's checksum of the bytes; `nil` before the upload.
    public var fileChecksum: String?

    /// The size in bytes; `nil` if unknown.
    public var size: Int64?

    /// Creates an asset value.
    ///
    /// - Parameters:
    ///   - fileChecksum: The database's checksum of the bytes.
    ///   - size: The size in bytes.
    public init(fileChecksum: String? = nil, size: Int64? = nil) {
        self.fileChecksum = fileChecksum
        self.size = size
    }

    package init(fileURL: URL?, fileChecksum: String? = nil, size: Int64? = nil) {
        self.init(fileChecksum: fileChecksum, size: size)
        self.fileURL = fileURL
    }

    /// The file, if there is no checksum to identify the asset.
    var identifyingURL: URL? { fileChecksum == nil ? fileURL : nil }

    /// Whether two assets have the same bytes: the same checksum and size, or the same file if there is no
    /// checksum.
    public static func == (lhs: RecordAsset, rhs: RecordAsset) -> Bool {
        lhs.fileChecksum == rhs.fileChecksum && lhs.size == rhs.size
            && lhs.identifyingURL == rhs.identifyingURL
    }

    /// Hashes the values that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fileChecksum)
        hasher.combine(size)
        hasher.combine(identifyingURL)
    }
}
