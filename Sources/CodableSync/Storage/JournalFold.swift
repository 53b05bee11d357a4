import RecordCoding

/// Thrown for an entry of a kind that only a newer version of the library writes; nothing was changed.
package struct NewerEntry: Error, Equatable, CustomStringConvertible {
    package var path: String
    package var offset: UInt64
    package var kind: String

    package var description: String {
        "\"\(path.shortenedForMessage)\" has an entry of the unknown kind \(kind.quoted) at byte \(offset). "
            + "Update the app, or use another directory."
    }
}

/// The result of applying the journal's lines: the state, and the positions of the contents.
struct JournalFold {
    private(set) var state = SyncState()
    /// The positions of contents that were read.
    private var positions: [ContentHandle: LogPosition] = [:]
    /// Rows of the snapshot that are not parsed.
    private var settled = SnapshotRowsBuilder()
    /// Where the snapshot has contents.
    private var places: [JournalLine.Place] = []
    /// Whether the lines behind the groups of the snapshot were read, because there is damage.
    private var isRearRead = false
    private(set) var lastHandle: UInt64 = 0
    /// Whether the rows of the last switch to this state are damaged.
    private(set) var isSwitchLost = false

    /// What the state must belong to; `nil` if anything is allowed.
    private let identity: StateIdentity?

    /// Creates an empty fold.
    ///
    /// - Parameter identity: What the state must belong to; `nil` if anything is allowed.
    init(identity: StateIdentity? = nil) {
        self.identity = identity
    }

    /// Applies a line.
    ///
    /// - Returns: Messages about parts of the line that had to be left out.
    /// - Throws: ``JournalLineError`` or `JSONError`; the line has no effect then. `ForeignState` if the state belongs to
    ///   something else.
    mutating func take(_ line: UnsafeRawBufferPointer, at position: LogPosition) throws -> [String] {
        if let handle = JournalLine.handle(of: line) {
            // Contents are written only once, so a repetition is a line that was copied to another place.
            guard positions[handle] == nil else {
                throw JournalLineError.malformed("it repeats contents \(handle.number), which came before")
            }
            guard JournalLine.isWhole(line) else { throw JournalLineError.damagedContents }
            try use(handle.number)
            positions[handle] = position
            return []
        }
        if LogFileName(identifier: position.file).kind == .snapshot {
            if let row = settled.take(
                line,
                upTo: lastHandle + Self.longestJump,
                accepted: state.streams.accepted
            ) {
                places.append(row.place)
                try use(row.handle.number)
                return []
            }
        } else {
            adoptSettled()
        }
        let line = try JournalLine.parse(Array(line))
        if case .summary(let summary) = line.row { try StateLabel(summary).check(identity) }
        // A snapshot's summary has no line before it.
        lastHandle = max(lastHandle, line.lastHandle)
        try use(line.highestHandle)
        places += line.places
        let wasRemoved = state.summary.signOut == .removed
        state.apply(row: line.row)
        if !wasRemoved, state.summary.signOut == .removed,
            LogFileName(identifier: position.file).kind != .snapshot
        {
            // Also if only replaced contents of edits are to be removed.
            state.noteGone()
        }
        state.forgetWhatChanged()
        return line.problems
    }

    /// Adds the rows of the snapshot that are not parsed to the state; after its lines, and before all others.
    mutating func adoptSettled() {
        if settled.isEmpty { return }
        let rows = settled
        settled = SnapshotRowsBuilder()
        state.adopt(types: rows.types, zones: rows.zones) { rows.rows($0) }
    }

    /// Takes from the label what the lines do not say, because the log is new or they are damaged.
    ///
    /// - Returns: The label of new files.
    mutating func adopt(_ label: StateLabel) -> StateLabel {
        isSwitchLost = label.switchCount > state.summary.switchCount
        state.changeSummary { summary in
            summary.user = summary.user ?? label.user
            summary.switchCount = max(summary.switchCount, label.switchCount)
        }
        state.forgetWhatChanged()
        var whole = StateLabel(state.summary)
        whole.identity = whole.identity ?? label.identity
        return whole
    }

    private mutating func use(_ handle: UInt64) throws(JournalLineError) {
        guard handle <= lastHandle + Self.longestJump else {
            throw .malformed("its handle is too far from those before it")
        }
        lastHandle = max(lastHandle, handle)
    }

    /// Takes contents from behind the groups of a snapshot, if they are whole.
    mutating func takeFromRear(_ line: UnsafeRawBufferPointer, at position: LogPosition) {
        isRearRead = true
        guard JournalLine.isWhole(line), let handle = JournalLine.handle(of: line), positions[handle] == nil
        else { return }
        positions[handle] = position
        lastHandle = max(lastHandle, handle.number)
    }

    /// Finds where the snapshot has contents of edits, and of versions that the cloud has lost.
    ///
    /// - Parameter index: Where contents are.
    /// - Returns: The positions.
    func positionsOfEdits(in index: ContentIndex) -> [LogPosition] {
        if places.isEmpty { return [] }
        let queues = [state.sendQueue, state.conflictQueue, state.parkedQueue]
        return queues.flatMap(\.keys).flatMap { key in
            (state[key]?.handles ?? []).filter { positions[$0] == nil }.compactMap { index[$0] }
        }
    }

    /// Finds where the contents are.
    ///
    /// - Parameter rear: The lines behind the groups of the snapshot.
    /// - Returns: The positions by handle.
    func index(behind rear: (file: UInt32, range: Range<UInt64>)?) -> ContentIndex {
        guard let rear, !isRearRead else { return ContentIndex(positions) }
        let start = LogPosition(file: rear.file, offset: rear.range.lowerBound, length: 0)
        let size = UInt64(rear.range.count)
        let within = places.filter { $0.offset + UInt64($0.length) <= size }
        return ContentIndex(positions, snapshot: SnapshotPlaces(within, behind: start))
    }

    /// Where the rows of the snapshot say that it has contents.
    func positionsInSnapshot(behind rear: (file: UInt32, range: Range<UInt64>)?) -> [LogPosition] {
        guard let rear else { return [] }
        return places.map { place in
            LogPosition(file: rear.file, offset: rear.range.lowerBound + place.offset, length: place.length)
        }
    }

    /// Whether contents are stored; only after damage.
    func isStored(_ handle: ContentHandle) -> Bool { positions[handle] != nil }

    /// The largest plausible gap between handles, which are consecutive; a larger one is damage.
    private static var longestJump: UInt64 { 1 << 48 }
}

extension JournalLine.Parsed {
    /// The highest handle that the line names, or gives as the last one.
    fileprivate var highestHandle: UInt64 {
        if case .record(_, _, let record?) = row {
            max(record.highestHandle, lastHandle)
        } else {
            lastHandle
        }
    }
}
