import RecordCoding

/// Contents that were read; a handle that is in neither property is no longer stored.
package struct StoredContents: Sendable {
    package var records: [ContentHandle: Record] = [:]
    /// Why stored contents cannot be read, by handle.
    package var unreadable: [ContentHandle: String] = [:]

    package init() {}

    /// The number of readable contents.
    package var count: Int { records.count }

    /// The common ancestor: the contents of `base`, with the fields of `contested` in place of its own.
    func ancestor(_ base: ContentHandle?, _ contested: ContentHandle?) -> Record? {
        guard let base, var record = self[base] else { return nil }
        if let contested, let fields = self[contested]?.fields { record.fields.merge(fields) { $1 } }
        return record
    }

    /// The contents of a handle; `nil` if they cannot be read.
    package subscript(handle: ContentHandle) -> Record? { records[handle] }

    /// The contents of a handle that must exist.
    ///
    /// - Throws: ``UnreadableContents`` with the reason.
    package func record(_ handle: ContentHandle) throws(UnreadableContents) -> Record {
        guard let record = records[handle] else {
            throw UnreadableContents(unreadable[handle] ?? "The stored contents are missing.")
        }
        return record
    }
}

/// Why stored contents cannot be used.
package struct UnreadableContents: Error, Hashable, CustomStringConvertible {
    package var description: String

    package init(_ reason: String) {
        description = reason
    }
}
