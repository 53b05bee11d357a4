import Dispatch
import RecordCoding

/// Reading the journal.
extension JournalDisk {
    /// The number of contents that are read before other reads get their turn.
    static var readingPart: Int { 100 }

    /// Reads contents, including those that are not stored yet, on a queue for reading.
    ///
    /// - Throws: The reason why the files cannot be read; `CancellationError` if the task is cancelled.
    func load(_ handles: [ContentHandle]) async throws -> StoredContents {
        var contents = StoredContents()
        contents.records = unstored(handles)
        let stored = contents.records.isEmpty ? handles : handles.filter { contents[$0] == nil }
        for start in stride(from: 0, to: stored.count, by: Self.readingPart) {
            try Task.checkCancellation()
            let part = Array(stored[start..<min(start + Self.readingPart, stored.count)])
            let loaded = try await withCheckedThrowingContinuation { continuation in
                readingQueue.async { [self] in
                    continuation.resume(with: Result { try loadBlocking(part) })
                }
            }
            contents.records.merge(loaded.records) { $1 }
            contents.unreadable.merge(loaded.unreadable) { $1 }
        }
        return contents
    }

    private func unstored(_ handles: [ContentHandle]) -> [ContentHandle: Record] {
        state.withLock { state in
            if state.unstored.isEmpty { return [:] }
            return handles.reduce(into: [:]) { $0[$1] = state.unstored[$1] }
        }
    }

    /// Reads contents on the calling thread.
    func loadBlocking(_ handles: [ContentHandle]) throws -> StoredContents {
        let unstored = unstored(handles)
        var contents = try store.load(unstored.isEmpty ? handles : handles.filter { unstored[$0] == nil })
        contents.records.merge(unstored) { $1 }
        return contents
    }
}
