import RecordCoding

/// Rows that are stored together, and the contents that they introduce.
package struct JournalBatch: Sendable {
    package var rows: [StateRow]
    package var contents: [ContentHandle: Record]
    package var flush: Bool

    package init(rows: [StateRow], contents: [ContentHandle: Record], flush: Bool) {
        self.rows = rows
        self.contents = contents
        self.flush = flush
    }
}

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

/// The storage of the journal and of the contents that it names.
package protocol StateStore: Sendable {
    /// Stores a batch completely or not at all.
    ///
    /// - Parameters:
    ///   - batch: The rows and contents.
    ///   - state: The state that the rows give with those before them.
    /// - Throws: ``JournalFailure``; nothing is stored then.
    func append(_ batch: JournalBatch, leaving state: SyncState) throws

    /// Reads contents, and reports which of them are unreadable; contents that are no longer stored are left
    /// out.
    func load(_ handles: [ContentHandle]) throws -> StoredContents

    /// Starts a compaction in the background if the files contain much that is no longer needed.
    ///
    /// - Parameter fail: Called if the compaction fails; no data is lost then.
    func compactIfDue(failing fail: @escaping @Sendable (any Error) -> Void)

    /// Compacts the files before it returns, so that removed records are no longer in them.
    ///
    /// - Throws: An error if the compaction fails; it can be repeated, and the next opening does so.
    func compact() throws

    /// Closes the files once a running compaction has ended; later calls throw.
    func close()
}

extension StateStore {
    /// Changes a state, and stores what changed, flushed.
    ///
    /// - Parameters:
    ///   - state: The state.
    ///   - body: Changes it; there are no new contents.
    /// - Throws: ``JournalFailure``; the state is unchanged then.
    func change(_ state: inout SyncState, _ body: (inout SyncState) -> Void) throws {
        var changed = state
        let rows = changed.recording(body).rows
        try append(JournalBatch(rows: rows, contents: [:], flush: true), leaving: changed)
        state = changed
    }

    /// Makes a state the current one, in one step.
    ///
    /// - Parameters:
    ///   - state: The state, which is changed.
    ///   - former: The user to name when the app is notified; `nil` if it was notified of their sign-out.
    ///   - count: The number of switches until now.
    ///   - startsOver: Whether the app has accepted another user's changes, so that those of this state begin with a
    ///     reset.
    /// - Throws: ``JournalFailure``: the former user's state is still the current one.
    func enter(_ state: inout SyncState, from former: String?, after count: UInt64, startsOver: Bool) throws {
        let last = max(count, state.summary.switchCount)
        guard last + 1 < JSONReader.counterLimit else {
            throw JournalFailure.unreadable("There is no number left for another switch of users.")
        }
        try change(&state) { state in
            state.enter(from: former, switchCount: last + 1)
            if startsOver { state.startOver() }
        }
    }
}
