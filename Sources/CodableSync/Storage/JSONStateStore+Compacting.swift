import Dispatch
import RecordCoding

/// The progress of compactions.
struct CompactionState {
    var isRunning = false
    /// What is left of a compaction that has begun.
    var work: (@Sendable () -> Void)?
    /// The size of the log when the last compaction failed.
    var failedSize: UInt64?
}

/// Compacting the files.
extension JSONStateStore {
    package func compactIfDue(failing fail: @escaping @Sendable (any Error) -> Void) {
        guard isCompactionDue else { return }
        compaction.withLock { $0.isRunning = true }
        compactionQueue.async { [self] in
            do {
                let work = try beginCompaction()
                compaction.withLock { state in
                    state.work = { [self] in
                        do {
                            try work()
                            endCompaction(failedSize: nil)
                        } catch {
                            endCompaction(error, failing: fail)
                        }
                    }
                }
            } catch {
                return endCompaction(error, failing: fail)
            }
            compactionQueue.async { [self] in goOnCompacting() }
        }
    }

    /// Finishes the compaction that has begun, unless that is done.
    func goOnCompacting() {
        let work = compaction.withLock { state in
            defer { state.work = nil }
            return state.work
        }
        work?()
    }

    private func endCompaction(_ error: any Error, failing fail: (any Error) -> Void) {
        endCompaction(failedSize: log.byteCount)
        fail(StateCompactionError(error))
    }

    /// Whether the log has grown enough since its snapshot; this includes growth in earlier openings and
    /// interrupted compactions.
    private var isCompactionDue: Bool {
        let size = log.byteCount
        let (isRunning, failedSize) = compaction.withLock { ($0.isRunning, $0.failedSize) }
        // A failed attempt, which rewrites all files, is repeated once they have doubled, or at the next opening.
        if isRunning || size / 2 < failedSize ?? 0 { return false }
        return size > compactionSize && size / 3 > log.snapshotByteCount
    }

    private func endCompaction(failedSize: UInt64?) {
        compaction.withLock { $0 = CompactionState(failedSize: failedSize) }
    }

    package func compact() throws {
        // A running compaction would keep what is to be removed now, so this one comes after it.
        try compactionQueue.sync {
            do {
                goOnCompacting()
                try beginCompaction()()
            } catch {
                throw StateCompactionError(error)
            }
        }
    }

    /// Directs later entries to a new file; the returned closure writes one snapshot of the other files.
    ///
    /// Nothing is appended meanwhile, so that each line is in both the frozen files and the frozen index or in
    /// neither. Must be called on the queue of compactions.
    private func beginCompaction() throws -> @Sendable () throws -> Void {
        let (frozen, layer) = try writing.withLock { _ in
            (try log.beginCompaction(), index.withLock { $0.freeze() })
        }
        return { [self] in
            let positions: [ContentHandle: LogPosition]
            let compacted: CompactedLog
            do {
                var fold = JournalFold(owner: headerUser)
                try frozen.replay { line, position in
                    let wasReported = unreadable.contains(position)
                    try fold.takeAgain(Array(line), at: position, wasReported: wasReported)
                }
                positions = try writeSnapshot(of: fold, to: frozen)
                compacted = try frozen.finish()
            } catch {
                try frozen.cancel()
                throw error
            }
            // The snapshot is valid from here on, even if a replaced file cannot be removed. The log learns
            // of it before the index, so that positions in it are readable as soon as the index has them.
            let finished = Result { try log.finishCompaction(compacted) }
            index.withLock { $0.replace(frozenAt: layer, by: positions) }
            try finished.get()
        }
    }

    private func writeSnapshot(
        of fold: JournalFold,
        to frozen: LogCompaction
    ) throws -> [ContentHandle: LogPosition] {
        var positions: [ContentHandle: LogPosition] = [:]
        let state = fold.state
        let listing = state.zones.numbers.map { state.zone($0).listing }.max() ?? 0
        guard max(state.summary.deliveryOrder, listing, fold.lastHandle) < JSONReader.counterLimit else {
            throw JournalFailure.unreadable("There is no number left for what is to be stored.")
        }
        let first = JournalLine.make(.row(.summary(state.summary)), lastHandle: fold.lastHandle)
        _ = try frozen.append(first.bytes, isAlone: true)
        if !state.held.isEmpty { _ = try frozen.append(JournalLine.make(.row(.held(state.held))).bytes) }
        for number in state.zones.numbers {
            let line = JournalLine.make(.row(.zone(number, state.zone(number))))
            _ = try frozen.append(line.bytes, isAlone: true)
        }
        for note in state.notes.suffix(SyncState.maximumNotes) {
            _ = try frozen.append(JournalLine.make(.row(.note(note))).bytes)
        }
        for key in state.sortedKeys(of: nil) {
            guard let record = state[key] else { continue }
            var contents: [(handle: ContentHandle, write: (inout JSONWriter) -> Void)] = []
            for handle in record.handles where positions[handle] == nil {
                guard let position = fold.positions[handle] else { continue }
                contents.append((handle, { [bytes = try log.read(position)] in $0.raw(bytes) }))
            }
            let row = StateLine.row(.record(key, type: state.recordType(of: key), record))
            let line = JournalLine.make(row, contents: contents)
            // A pending edit exists nowhere else, so it gets a group of its own.
            let position = try frozen.append(line.bytes, isAlone: record.pending != nil)
            for place in line.places { positions[place.handle] = position.part(place.range) }
        }
        return positions
    }
}
