import Dispatch
import RecordCoding

/// Rows that are stored together, and the contents that they introduce.
struct JournalBatch: Sendable {
    var rows: [StateRow]
    var contents: [ContentHandle: Record]
    var flush: Bool
}

/// The journal on disk, and an index of the contents in it.
///
/// Only one thread may append; contents may be read from any thread.
package final class JSONStateStore: Sendable {
    static var format: String { "codablesync-state" }
    /// The version of the format that this library writes.
    package static var version: UInt64 { 7 }
    /// The default minimum size for a compaction.
    package static var compactionSize: UInt64 { 4 << 20 }

    /// The result of opening a journal.
    package struct Opened {
        package var store: JSONStateStore
        package var state: SyncState
        /// The first unused handle.
        package var nextHandle: UInt64
        package var recovery: LogRecovery
        /// The number of the user's directory.
        package var number: Int64 = 0
        /// The greatest number of switches that another state names.
        package var greatestSwitchCount: UInt64 = 0
        /// Rows that make a damaged state consistent; they must be stored before anything else.
        package var repairs: [StateRow] = []
        /// The names of records whose edits are lost, since their contents were in a damaged line.
        package var lostEdits: [String] = []
    }

    let log: JSONLog
    let compactionSize: UInt64
    /// The label of new files.
    private let label: Locked<StateLabel>
    let index: Locked<ContentIndex>
    /// What the lines so far give; held while lines are appended, and while a compaction begins.
    let stored: Locked<StoredState>
    let compaction = Locked(CompactionState())
    /// Runs compactions one at a time; closing waits for the last one.
    let compactionQueue = DispatchQueue(label: "CodableSync.compaction", qos: .utility)

    init(
        log: JSONLog,
        fold: JournalFold,
        index: ContentIndex,
        compactionSize: UInt64,
        label: StateLabel
    ) {
        self.log = log
        self.compactionSize = compactionSize
        self.label = Locked(label)
        self.index = Locked(index)
        stored = Locked(StoredState(state: fold.state, lastHandle: fold.lastHandle))
    }

    /// Stores a batch completely or not at all.
    ///
    /// - Parameters:
    ///   - batch: The rows and contents.
    ///   - state: The state that the rows give with those before them.
    /// - Throws: ``JournalFailure``; nothing is stored then.
    func append(_ batch: JournalBatch, leaving state: SyncState) throws(JournalFailure) {
        do {
            let last = batch.contents.keys.max() ?? ContentHandle(0)
            guard last.number < ContentHandle.limit else {
                throw JournalFailure.unreadable("There is no number left for what is to be stored.")
            }
            var group = LogGroup()
            for row in batch.rows { try group.append(JournalLine.make(row)) }
            // Contents are written once.
            let contents = index.withLock { index in batch.contents.filter { index[$0.key] == nil } }
            let handles = contents.keys.sorted()
            for handle in handles {
                if let record = contents[handle] { try group.append(JournalLine.make(handle, record)) }
            }
            try stored.withLock { stored in
                let positions = try commit(group, StateLabel(state.summary), flush: batch.flush)
                index.withLock { index in
                    for (handle, position) in zip(handles, positions.suffix(handles.count)) {
                        index[handle] = position
                    }
                }
                stored = StoredState(state: state, lastHandle: max(stored.lastHandle, last.number))
            }
        } catch {
            throw JournalFailure(error)
        }
    }

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

    /// Writes a group; that of a switch begins a new file, whose header says so.
    private func commit(_ group: LogGroup, _ label: StateLabel, flush: Bool) throws -> [LogPosition] {
        try self.label.withLock { current in
            if label == current { return try log.commit(group, flush: flush) }
            let isSwitch = label.switchCount != current.switchCount
            let positions =
                isSwitch
                ? try log.commit(group, labelling: label.encoded) : try log.commit(group, flush: flush)
            log.relabel(label.encoded)
            current = label
            return positions
        }
    }

    /// Reads contents, and reports which of them are unreadable; contents that are no longer stored are left
    /// out.
    package func load(_ handles: [ContentHandle]) throws -> StoredContents {
        var contents = StoredContents()
        var left = handles
        while !left.isEmpty {
            let stored = index.withLock { index in
                left.compactMap { handle in index[handle].map { StoredPlace(handle: handle, position: $0) } }
            }
            left = []
            var pieces = StoredPlace.pieces(of: stored)
            while let piece = pieces.popLast() {
                do {
                    try read(piece, into: &contents)
                } catch LogError.unknownPosition where index.withLock({ piece.isOutdated(in: $0) }) {
                    // A compaction has moved them.
                    left += piece.map(\.handle)
                } catch LogError.unknownPosition where piece.count > 1 {
                    pieces += piece.indices.map { piece[$0...$0] }
                } catch let error as LogError {
                    if case .closed = error { throw JournalFailure.unreadable("The state is closed.") }
                    for place in piece { contents.unreadable[place.handle] = Self.unreadable(error) }
                }
            }
        }
        return contents
    }

    private static func unreadable(_ error: any Error) -> String {
        "The stored contents cannot be read: \(error)"
    }

    /// Reads contents that stand near each other.
    private func read(_ piece: ArraySlice<StoredPlace>, into contents: inout StoredContents) throws {
        let whole = piece.extent
        let bytes = try log.readAll(whole)
        for place in piece {
            let start = Int(place.position.offset - whole.offset)
            do {
                let line = Array(bytes[start..<start + Int(place.position.length)])
                contents.records[place.handle] = try JournalLine.record(of: place.handle, in: line)
            } catch {
                contents.unreadable[place.handle] = Self.unreadable(error)
            }
        }
    }

    /// Closes the files once a running compaction has ended; later calls throw.
    package func close() {
        // The compaction reads files that are about to be closed. It is not cancelled, since a short-lived
        // process would then never finish one.
        compactionQueue.sync {}
        log.close()
    }
}

extension JournalFailure {
    /// Creates a failure from what the files throw.
    init(_ error: any Error) {
        switch error {
        case let failure as JournalFailure: self = failure
        case let error as FileError where error.isOutOfSpace: self = .storageFull(error.message)
        case let error as FileError: self = .unreadable(error.message)
        case let error as LogError: self = .unreadable(error.message(.state))
        default: self = .unreadable("\(error)")
        }
    }
}

/// Where contents are.
private struct StoredPlace {
    /// How much is read at once, unless a single line is longer.
    private static let pieceSize: UInt64 = 256 << 10
    /// How many bytes between lines are read in vain rather than in another call.
    private static let gap: UInt64 = 4 << 10

    var handle: ContentHandle
    var position: LogPosition

    var end: UInt64 { position.offset + UInt64(position.length) }

    /// Divides places into those that are read together.
    static func pieces(of places: [StoredPlace]) -> [ArraySlice<StoredPlace>] {
        let places = places.sorted { first, second in
            (first.position.file, first.position.offset) < (second.position.file, second.position.offset)
        }
        var pieces: [ArraySlice<StoredPlace>] = []
        var start = 0
        for index in places.indices.dropFirst()
        where !places[index - 1].isFollowed(by: places[index], from: places[start]) {
            pieces.append(places[start..<index])
            start = index
        }
        if start < places.count { pieces.append(places[start...]) }
        return pieces
    }

    private func isFollowed(by next: StoredPlace, from first: StoredPlace) -> Bool {
        position.file == next.position.file && next.position.offset < end + Self.gap
            && next.end - first.position.offset < Self.pieceSize
    }
}

extension ArraySlice<StoredPlace> {
    /// The part of the file that has all of them.
    fileprivate var extent: LogPosition {
        var extent = self[startIndex].position
        let end = reduce(0) { Swift.max($0, $1.end) }
        extent.length = UInt32(clamping: end - extent.offset)
        return extent
    }

    fileprivate func isOutdated(in index: ContentIndex) -> Bool {
        contains { index[$0.handle] != $0.position }
    }
}
