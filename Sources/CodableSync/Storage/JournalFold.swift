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

    /// The user in the headers of the files, if any.
    private let owner: String?
    /// What the state must belong to; `nil` if anything is allowed.
    private let identity: StateIdentity?
    /// A file in which another user has claimed the state, so that the rest of it is that user's.
    private var foreignFile: UInt32?

    /// Creates an empty fold.
    ///
    /// - Parameters:
    ///   - owner: The user in the headers of the files, if any.
    ///   - identity: What the state must belong to; `nil` if anything is allowed.
    init(owner: String? = nil, identity: StateIdentity? = nil) {
        self.owner = owner
        self.identity = identity
        keepOwner()
    }

    /// Applies a line.
    ///
    /// - Returns: Messages about parts of the line that had to be left out.
    /// - Throws: ``JournalLineError`` or `JSONError`; the line has no effect then. `ForeignState` if the state belongs to
    ///   something else.
    mutating func take(_ line: UnsafeRawBufferPointer, at position: LogPosition) throws -> [String] {
        if let handle = JournalLine.handle(of: line) {
            try checkFile(position)
            // Contents are written only once, so a repetition is a line that was copied to another place.
            guard positions[handle] == nil else {
                throw JournalLineError.malformed("it repeats contents \(handle.number), which came before")
            }
            guard JournalLine.isWhole(line) else { throw JournalLineError.damagedContents }
            try use(handle.number)
            positions[handle] = position
            return []
        }
        if foreignFile != position.file, LogFileName(identifier: position.file).kind == .snapshot {
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
        try checkOwner(line.row, at: position)
        // Not of a line that is left out.
        try checkIdentity(line.row)
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
        keepOwner()
        return line.problems
    }

    /// Adds the rows of the snapshot that are not parsed to the state; after its lines, and before all others.
    mutating func adoptSettled() {
        if settled.isEmpty { return }
        let rows = settled
        settled = SnapshotRowsBuilder()
        state.adopt(types: rows.types, zones: rows.zones) { rows.rows($0) }
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
        guard foreignFile != position.file, JournalLine.isWhole(line),
            let handle = JournalLine.handle(of: line), positions[handle] == nil
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

    private func checkIdentity(_ row: StateRow) throws {
        guard case .summary(let summary) = row, let identity,
            let difference = summary.identity?.firstDifference(from: identity)
        else { return }
        throw ForeignState(difference: difference.inWords)
    }

    /// Refuses a file of another user whose header cannot be read.
    private mutating func checkOwner(
        _ row: StateRow,
        at position: LogPosition
    ) throws(JournalLineError) {
        if case .summary(let summary) = row, let user = summary.user, let owner = state.summary.user,
            !owner.isIdentical(to: user)
        {
            foreignFile = position.file
        }
        try checkFile(position)
    }

    private func checkFile(_ position: LogPosition) throws(JournalLineError) {
        if foreignFile == position.file { throw .malformed("it says that the state is another user's") }
    }

    /// Sets the owner from the headers, if a snapshot is older than the claim.
    private mutating func keepOwner() {
        guard let owner, state.summary.user == nil else { return }
        state.changeSummary { $0.user = owner }
    }

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
