import Dispatch
import RecordCoding

/// The progress of compactions.
struct CompactionState {
    var isRunning = false
    /// The size of the log when the last compaction failed.
    var failedSize: UInt64?
}

/// Compacting the files.
extension JSONStateStore {
    /// Starts a compaction in the background if the files contain much that is no longer needed.
    ///
    /// - Parameter fail: Called if the compaction fails; no data is lost then.
    package func compactIfDue(failing fail: @escaping @Sendable (any Error) -> Void) {
        guard isCompactionDue else { return }
        compaction.withLock { $0.isRunning = true }
        compactionQueue.async { [self] in
            do {
                try rewrite()
                endCompaction(failedSize: nil)
            } catch {
                endCompaction(failedSize: log.byteCount)
                fail(StateCompactionError(error))
            }
        }
    }

    /// The number of files above which they are compacted however small they are, since each switch of users begins one
    /// and all of them are kept open.
    private static var maximumFiles: Int { 16 }

    /// Whether the log has grown enough since its snapshot; this includes growth in earlier openings and
    /// interrupted compactions.
    private var isCompactionDue: Bool {
        let size = log.byteCount
        let (isRunning, failedSize) = compaction.withLock { ($0.isRunning, $0.failedSize) }
        // A failed attempt, which rewrites all files, is repeated once they have doubled, or at the next opening.
        if isRunning || size / 2 < failedSize ?? 0 { return false }
        if log.fileCount > Self.maximumFiles { return true }
        return size > compactionSize && size / 2 > log.snapshotByteCount
    }

    private func endCompaction(failedSize: UInt64?) {
        compaction.withLock { $0 = CompactionState(failedSize: failedSize) }
    }

    /// Compacts the files before it returns, so that removed records are no longer in them.
    ///
    /// - Throws: An error if the compaction fails; it can be repeated, and the next opening does so.
    package func compact() throws {
        // A running compaction would keep what is to be removed now, so this one comes after it.
        try compactionQueue.sync {
            do {
                try rewrite()
            } catch {
                throw StateCompactionError(error)
            }
        }
    }

    /// Directs later lines to a new file, and writes one snapshot in place of the other files.
    ///
    /// Nothing is appended while this begins, so that the state, the index and the files are of the same moment. Must
    /// be called on the queue of compactions.
    private func rewrite() throws {
        let (begun, stored, layer, index) = try stored.withLock { stored in
            let begun = try log.beginCompaction()
            return self.index.withLock { index in (begun, stored, index.freeze(), index) }
        }
        var places: [JournalLine.Place] = []
        let compacted = try begun.write { snapshot in
            let contents = try snapshot.appendRows(of: stored, index)
            places = contents.places
            return contents.positions
        }
        // The snapshot is valid from here on, even if a replaced file cannot be removed. The log learns
        // of it before the index, so that positions in it are readable as soon as the index has them.
        let finished = Result { try log.finishCompaction(compacted) }
        let snapshot = SnapshotPlaces(places, behind: compacted.rear)
        self.index.withLock { $0.replace(frozenAt: layer, by: snapshot) }
        try finished.get()
    }
}

/// What the lines of the journal give.
struct StoredState: Sendable {
    var state: SyncState
    /// The highest handle in use.
    var lastHandle: UInt64
}

extension SnapshotWriter {
    /// Writes the rows of a state.
    ///
    /// - Returns: Where the contents that they name will stand, and where they are now.
    fileprivate mutating func appendRows(
        of stored: StoredState,
        _ index: ContentIndex
    ) throws -> (places: [JournalLine.Place], positions: [LogPosition]) {
        let state = stored.state
        let listing = state.zones.numbers.map { state.zone($0).listing }.max() ?? 0
        guard max(state.summary.lastNumber, listing, stored.lastHandle) < JSONReader.counterLimit else {
            throw JournalFailure.unreadable("There is no number left for what is to be stored.")
        }
        let first = JournalLine.make(.summary(state.summary), lastHandle: stored.lastHandle)
        _ = try append(first, isAlone: true)
        _ = try append(JournalLine.make(.streams(state.streams)), isAlone: true)
        for number in state.zones.numbers {
            _ = try append(JournalLine.make(.zone(number, state.zone(number))), isAlone: true)
        }
        for note in state.notes.suffix(SyncState.maximumNotes) {
            _ = try append(JournalLine.make(.note(note)))
        }
        var places: [JournalLine.Place] = []
        var positions: [LogPosition] = []
        var offset: UInt64 = 0
        for key in state.sortedKeys(of: nil) {
            guard let record = state[key] else { continue }
            let first = places.count
            for handle in record.handles {
                // Damage may have taken it.
                guard let position = index[handle] else { continue }
                places.append(JournalLine.Place(handle: handle, offset: offset, length: position.length))
                positions.append(position)
                offset += UInt64(position.length) + 1
            }
            let row = StateRow.record(key, type: state.recordType(of: key), record)
            let line = JournalLine.make(row, places: Array(places[first...]))
            // A pending edit exists nowhere else, so it gets a group of its own.
            _ = try append(line, isAlone: record.pending != nil)
        }
        return (places, positions)
    }
}
