import RecordCoding

/// Entries that are stored together, and the contents that they introduce.
package struct JournalBatch: Sendable {
    package var batch: BatchID
    package var entries: [JournalEntry]
    package var contents: [ContentHandle: Record]
    package var flush: Bool

    package init(batch: BatchID, entries: [JournalEntry], contents: [ContentHandle: Record], flush: Bool) {
        self.batch = batch
        self.entries = entries
        self.contents = contents
        self.flush = flush
    }
}

/// Contents that were read back; a handle that is in neither of the two is no longer stored.
package struct StoredContents: Sendable {
    package var records: [ContentHandle: Record] = [:]
    /// Why stored contents cannot be read, by their handles.
    package var unreadable: [ContentHandle: String] = [:]

    package init() {}

    /// How many can be read.
    package var count: Int { records.count }

    /// The common ancestor: the contents of `base`, with the fields of `contested` in place of its own.
    func ancestor(_ base: ContentHandle?, _ contested: ContentHandle?) -> Record? {
        guard let base, var record = self[base] else { return nil }
        if let contested, let fields = self[contested]?.fields { record.fields.merge(fields) { $1 } }
        return record
    }

    /// The contents of a handle, if they can be read.
    package subscript(handle: ContentHandle) -> Record? { records[handle] }

    /// The contents of a handle that must be there.
    ///
    /// - Throws: ``UnreadableContents``, with the reason.
    package func record(_ handle: ContentHandle) throws(UnreadableContents) -> Record {
        guard let record = records[handle] else {
            throw UnreadableContents(unreadable[handle] ?? "The stored contents are missing.")
        }
        return record
    }
}

/// Why contents that a fact names cannot be used.
package struct UnreadableContents: Error, Hashable, CustomStringConvertible {
    package var description: String

    package init(_ reason: String) {
        description = reason
    }
}

/// Where the journal and the contents that it names are kept.
package protocol StateStore: Sendable {
    /// Stores the batches in order, all of them or none, as durably as any of them asks for.
    ///
    /// After a crash in the middle of it the first ones may be there, each of them whole.
    ///
    /// - Throws: ``JournalFailure``; then nothing of the batches is stored.
    func append(_ batches: [JournalBatch]) throws

    /// Reads contents, and says which of them cannot be read; those that are no longer stored are left out.
    func load(_ handles: [ContentHandle]) throws -> StoredContents

    /// Begins to make the files smaller if they hold much that is no longer needed; holds nobody up.
    ///
    /// No entries may be appended during the call.
    ///
    /// - Parameter fail: Is told why it could not be done; nothing is lost by that.
    func compactIfDue(failing fail: @escaping @Sendable (any Error) -> Void)

    /// Makes the files as small as the state allows, now: what was removed is no longer in them.
    ///
    /// - Throws: Why it could not be done; it can be tried again, and is at the next opening.
    func compact() throws

    /// Closes the files once a running compaction has ended; later calls throw.
    func close()
}
