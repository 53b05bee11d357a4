import Dispatch
import RecordCoding

/// The files of an open state: the core writes them, and everybody reads them on a queue for reading.
final class OpenFiles: Sendable {
    private struct State {
        /// Contents that are not stored yet.
        var unstored: [ContentHandle: Record] = [:]
        var isClosed = false
        /// Whether the next opening of the directory waits until the files are closed.
        var isInRelease = false
    }

    let store: JSONStateStore
    private let state = Locked(State())
    private let writingQueue = DispatchQueue(label: "CodableSync.writing", qos: .userInitiated)
    private let readingQueue = DispatchQueue(label: "CodableSync.reading")
    private let removingQueue = DispatchQueue(label: "CodableSync.removing")
    private let directory: StateDirectory

    /// - Parameters:
    ///   - store: Where the journal is.
    ///   - directory: The engine's directory, released once the files are closed.
    init(store: JSONStateStore, directory: StateDirectory) {
        self.store = store
        self.directory = directory
    }

    // MARK: Writing

    /// Makes contents readable before they are stored.
    func keep(_ contents: [ContentHandle: Record]) {
        if contents.isEmpty { return }
        state.withLock { $0.unstored.merge(contents) { $1 } }
    }

    /// Forgets contents that are stored.
    func forget(_ contents: [ContentHandle: Record]) {
        if contents.isEmpty { return }
        state.withLock { state in for handle in contents.keys { state.unstored[handle] = nil } }
    }

    /// Forgets all contents that are not stored, since they never will be.
    func forgetAll() {
        state.withLock { $0.unstored = [:] }
    }

    /// Writes a batch without blocking the core.
    ///
    /// - Parameters:
    ///   - batch: The rows and contents.
    ///   - state: The state that the rows give with those before them.
    ///   - end: Gets why the batch could not be stored; `nil` if it is stored.
    func write(
        _ batch: JournalBatch,
        leaving state: SyncState,
        then end: @escaping @Sendable (JournalFailure?) -> Void
    ) {
        writingQueue.async { [self] in end(writeBlocking(batch, leaving: state)) }
    }

    /// Writes a batch on the calling thread.
    ///
    /// - Returns: Why the batch could not be stored; `nil` if it is stored.
    func writeBlocking(_ batch: JournalBatch, leaving state: SyncState) -> JournalFailure? {
        do {
            try store.append(batch, leaving: state)
            return nil
        } catch {
            return error
        }
    }

    /// Removes the records of a user who has signed out from the files.
    ///
    /// - Returns: Why that failed, if it did.
    func removeTraces() async -> (any Error)? {
        await withCheckedContinuation { continuation in
            removingQueue.async { [self] in
                do {
                    if !state.withLock({ $0.isClosed }) { try store.compact() }
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
    }

    // MARK: Reading

    /// The number of contents that are read before other reads get their turn.
    static var readingPart: Int { 250 }
    /// The number of contents that are read on the calling thread, since a switch of threads takes longer.
    private static var fewContents: Int { 4 }

    /// Reads contents, including those that are not stored yet; more than a few on a queue for reading.
    ///
    /// - Throws: The reason why the files cannot be read; `CancellationError` if the task is cancelled.
    func load(_ handles: [ContentHandle]) async throws -> StoredContents {
        var contents = StoredContents()
        contents.records = unstored(handles)
        let stored = contents.records.isEmpty ? handles : handles.filter { contents[$0] == nil }
        for start in stride(from: 0, to: stored.count, by: Self.readingPart) {
            try Task.checkCancellation()
            let part = Array(stored[start..<min(start + Self.readingPart, stored.count)])
            let loaded = try await part.count > Self.fewContents ? loadOnQueue(part) : loadBlocking(part)
            contents.records.merge(loaded.records) { $1 }
            contents.unreadable.merge(loaded.unreadable) { $1 }
        }
        return contents
    }

    private func loadOnQueue(_ part: [ContentHandle]) async throws -> StoredContents {
        try await withCheckedThrowingContinuation { continuation in
            readingQueue.async { [self] in continuation.resume(with: Result { try loadBlocking(part) }) }
        }
    }

    /// Reads contents on the calling thread.
    func loadBlocking(_ handles: [ContentHandle]) throws -> StoredContents {
        let unstored = unstored(handles)
        var contents = try store.load(unstored.isEmpty ? handles : handles.filter { unstored[$0] == nil })
        contents.records.merge(unstored) { $1 }
        return contents
    }

    private func unstored(_ handles: [ContentHandle]) -> [ContentHandle: Record] {
        state.withLock { state in
            if state.unstored.isEmpty { return [:] }
            return handles.reduce(into: [:]) { $0[$1] = state.unstored[$1] }
        }
    }

    // MARK: Closing

    /// Closes the files.
    ///
    /// - Parameter keepsDirectory: Whether the engine continues in its directory with another user's state.
    func close(keepsDirectory: Bool = false) async {
        await withCheckedContinuation { continuation in
            writingQueue.async { [self] in
                closeBlocking(keepsDirectory: keepsDirectory)
                continuation.resume()
            }
        }
    }

    /// Notes that the app has released the engine: the next one in this process that opens the directory waits
    /// until the files are closed, however long the core still works.
    func beginRelease() {
        state.withLock { state in
            if state.isClosed || state.isInRelease { return }
            state.isInRelease = true
            directory.beginRelease()
        }
    }

    /// Closes the files of a released core in the background, so that no caller waits for the disk.
    func closeUnattended() {
        beginRelease()
        writingQueue.async { [self] in closeBlocking(keepsDirectory: false) }
    }

    private func closeBlocking(keepsDirectory: Bool) {
        let former = state.withLock { state in
            defer { state.isClosed = true }
            return state
        }
        if former.isClosed { return }
        store.close()
        if !keepsDirectory { directory.release() }
        if former.isInRelease { directory.endRelease() }
    }
}
