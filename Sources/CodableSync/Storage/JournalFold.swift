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
    /// The other rows of records.
    private var latest = LatestRows()
    /// What the app could read when the snapshot was written.
    private var firstSchemas: [ReadableSchema]?
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
    /// A record's row counts only once ``finish(_:)`` is called, if no later one replaces it.
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
        let isInSnapshot = LogFileName(identifier: position.file).kind == .snapshot
        if isInSnapshot, let row = settled.take(line, upTo: highest, accepted: state.streams.accepted) {
            if let place = row.place { places.append(place) }
            try use(row.handle.number)
            return []
        }
        if let key = JournalLine.plainKey(of: line),
            let places = isInSnapshot ? JournalLine.places(atEndOf: line) : []
        {
            self.places += places
            latest.add(line, of: key, at: position)
            return []
        }
        let parsed = try JournalLine.parse(Array(line))
        if case .summary(let summary) = parsed.row {
            try StateLabel(summary).check(identity)
            firstSchemas = firstSchemas ?? summary.schemas
        }
        let wasRemoved = state.summary.signOut == .removed
        try apply(parsed)
        if !wasRemoved, state.summary.signOut == .removed, !isInSnapshot {
            // Also if only replaced contents of edits are to be removed.
            state.noteGone()
        }
        return parsed.problems
    }

    private mutating func apply(_ line: JournalLine.Parsed) throws(JournalLineError) {
        // A snapshot's summary has no line before it.
        lastHandle = max(lastHandle, line.lastHandle)
        try use(line.highestHandle)
        places += line.places
        state.apply(row: line.row)
        state.forgetWhatChanged()
    }

    /// Adds the records to the state: those that are settled as they are written, the others parsed.
    ///
    /// - Parameter report: Called for each row that cannot be read, or only in part, with the reason.
    /// - Returns: The records whose last row cannot be read.
    /// - Throws: What `report` throws.
    mutating func finish(_ report: (LogPosition, any Error) throws -> Void) throws -> Set<RecordKey> {
        let (latest, highest, accepted) = (latest, highest, state.streams.accepted)
        self.latest = LatestRows()
        var settledRows: [LatestRows.Row] = []
        var others: [LatestRows.Row] = []
        let hasRoom = settled.hasRoom(for: latest.byteCount)
        latest.forEach { row, line in
            if hasRoom, let found = SettledRow(line, accepted: accepted), found.handle.number <= highest {
                settledRows.append(row)
                lastHandle = max(lastHandle, found.handle.number)
            } else {
                others.append(row)
            }
        }
        settledRows.sort { $0.key < $1.key }
        if !latest.isEmpty { settled.replace(with: settledRows, of: latest) }
        adoptSettled()
        var lost: Set<RecordKey> = []
        for row in others {
            do {
                let line = try JournalLine.parse(latest.withLine(of: row) { Array($0) })
                try apply(line)
                if line.problems.isEmpty { continue }
                try report(row.position, UnreadableLine(line.problems.joined(separator: "; ")))
            } catch let error where error is JournalLineError || error is JSONError {
                lost.insert(row.key)
                try report(row.position, error)
            }
        }
        return lost
    }

    /// Applies a line if it is a readable row of one of these records.
    mutating func applyAgain(_ line: UnsafeRawBufferPointer, of keys: Set<RecordKey>) {
        guard let key = JournalLine.plainKey(of: line), keys.contains(key) else { return }
        do {
            try apply(JournalLine.parse(Array(line)))
        } catch {
            // It is reported, or another one has replaced it.
        }
    }

    /// The records whose last rows name an edit or a version that is lost; only after damage.
    var recordsWithoutContents: [RecordKey: RecordState] {
        var found: [RecordKey: RecordState] = [:]
        for key in state.sortedKeys(of: nil) {
            if let record = state[key], !hasContents(record) { found[key] = record }
        }
        return found
    }

    /// Whether the edit and the latest version that a record names are stored; only after damage.
    func hasContents(_ record: RecordState) -> Bool {
        [record.pending?.handle, record.lastKnown?.handle].allSatisfy { $0.map(isStored) ?? true }
    }

    /// Goes back to earlier rows; only after damage.
    mutating func goBack(to former: FormerRows) {
        for row in former.counting(isStored) { state.apply(row: row) }
        state.forgetWhatChanged()
    }

    /// Adds the rows that are not parsed to the state, which judges them by what this app can read now.
    private mutating func adoptSettled() {
        if settled.isEmpty { return }
        let (rows, summary) = (settled, state.summary)
        settled = SnapshotRowsBuilder()
        state.changeSummary { $0.schemas = firstSchemas ?? $0.schemas }
        state.adopt(types: rows.types, zones: rows.zones) { rows.rows($0) }
        state.apply(row: .summary(summary))
        state.forgetWhatChanged()
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
        var whole = StateLabel(state.summary)
        whole.identity = whole.identity ?? label.identity
        return whole
    }

    /// The highest handle that is plausible.
    private var highest: UInt64 { lastHandle + Self.longestJump }

    private mutating func use(_ handle: UInt64) throws(JournalLineError) {
        guard handle <= highest else {
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
