public import struct Foundation.Data
public import struct Foundation.Date

extension SystemFields {
    /// The version of the blob's format; higher versions are refused.
    private static let blobVersion: Int64 = 1

    /// The system fields as an opaque blob to store with a model; equal fields and archives produce equal
    /// bytes.
    public var encodedBlob: Data {
        var writer = JSONWriter(reserving: 256 + (archive?.count ?? 0) * 4 / 3)
        writer.beginObject()
        writer.key("codableSyncSystemFields")
        writer.int(SystemFields.blobVersion)
        RecordJSON.append(self, to: &writer)
        writer.endObject()
        return Data(writer.bytes)
    }

    /// The change tag in a blob; `nil` if it has no readable one.
    package static func changeTag(inBlob blob: Data) -> String? {
        do {
            let tag = try SystemFields(blob: blob).recordChangeTag
            return tag.isEmpty ? nil : tag
        } catch {
            return nil
        }
    }

    /// Reads system fields from a blob created by ``encodedBlob``.
    ///
    /// - Parameter blob: The blob.
    /// - Throws: ``RecordCodingError`` for anything else.
    public init(blob: Data) throws {
        do {
            var reader = JSONReader(blob.withUnsafeBytes { Array($0) })
            try reader.beginObject()
            guard try reader.nextKey() == "codableSyncSystemFields" else {
                throw JSONError(offset: 0, reason: "the mark of system fields was expected")
            }
            guard try reader.int() == SystemFields.blobVersion else {
                throw JSONError(offset: reader.offset, reason: "the version of the format is not known")
            }
            self = try RecordJSON.readSystemFieldsMembers(from: &reader)
            try reader.end()
        } catch let error as JSONError {
            throw RecordCodingError.unreadableSystemFields(reason: error.description)
        }
    }
}

extension SystemFieldsStoring {
    /// When the record was last saved, by the server's clock.
    ///
    /// It is `nil` before the first save, and if ``SystemFieldsStoring/systemFields`` is a blob that this
    /// version cannot read.
    public var lastModified: Date? {
        guard let systemFields else { return nil }
        do {
            return try SystemFields(blob: systemFields).modificationDate
        } catch {
            return nil
        }
    }
}
