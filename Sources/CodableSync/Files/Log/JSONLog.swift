/// An append-only log of JSON lines in a directory, for one owner at a time.
///
/// Lines are committed in groups: after a crash at any moment a group is wholly there or wholly absent. A group
/// that was flushed survives a loss of power. Opening visits every committed line, checks every byte, and says what
/// it could not trust. Compaction writes a snapshot of what still matters beside the log, while the owner appends.
///
/// One thread appends and compacts at a time; ``read(_:)`` may be called from any.
package final class JSONLog: Sendable {
    let place: LogPlace
    /// All of appending: guarded by its lock, which a commit holds over its writing and flushing.
    let writer: Locked<LogWriter>
    /// The open files by their identifier, `nil` once the log is closed: held for a look-up only, so that reading never
    /// waits for a flush.
    let files: Locked<[UInt32: any OpenFile]?>

    /// Files in the directory that are not of this log: the next compaction removes them.
    let strangers: Set<LogFileName>

    init(place: LogPlace, parts: [LogPart], active: LogPart, strangers: Set<LogFileName>) {
        self.place = place
        self.strangers = strangers
        var table: [UInt32: any OpenFile] = [:]
        for part in parts + [active] { table[part.name.identifier] = part.file }
        files = Locked(table)
        writer = Locked(LogWriter(place: place, parts: parts, active: active))
    }

    /// How many bytes the log's files have.
    package var byteCount: UInt64 {
        writer.withLock { writer in
            (writer.parts + [writer.active]).reduce(0) { $0 + $1.size }
        }
    }

    /// How many bytes the snapshot has that the log begins with; 0 if there is none.
    package var snapshotByteCount: UInt64 {
        writer.withLock { $0.parts.first { $0.name.kind == .snapshot }?.size ?? 0 }
    }

    /// The number of the journal that is appended to; it grows with each compaction.
    package var generation: UInt32 { writer.withLock { $0.active.name.number } }

    /// The random number that all files of this log share, and no other's.
    package var identifier: UInt64 { place.identity.withLock { $0.log } }

    /// Sets what new files say that they belong to.
    ///
    /// - Parameter label: One JSON value on one line.
    package func relabel(_ label: [UInt8]) {
        place.identity.withLock { $0.label = label }
    }

    /// Writes a group of lines, with one call for all of them.
    ///
    /// After an error nothing of the group is committed, and it may be tried again: what was written of it is cut
    /// off, or, where the disk cannot be trusted with that, left behind in a journal that is not continued.
    ///
    /// - Parameters:
    ///   - group: The lines; an empty group writes nothing.
    ///   - flush: Whether they are to survive a loss of power, and not only the end of this process.
    /// - Returns: Where the lines are.
    /// - Throws: ``FileError``, ``LogError/replaced(path:)``, or ``LogError/closed(path:)``.
    @discardableResult
    package func commit(_ group: LogGroup, flush: Bool) throws -> [LogPosition] {
        try commit([group], flush: flush)
    }

    /// Writes groups of lines, with one call for all of them.
    ///
    /// After an error nothing of any group is committed. After a crash the first ones may be there, each whole.
    ///
    /// - Parameters:
    ///   - groups: The groups; empty ones write nothing.
    ///   - flush: As above.
    /// - Returns: Where the lines are, one group after the other.
    /// - Throws: As above.
    package func commit(_ groups: [LogGroup], flush: Bool) throws -> [LogPosition] {
        try writer.withLock { writer in
            try checkOpen()
            try beginJournalIfNeeded(&writer)
            return try writer.commit(groups, flush: flush)
        }
    }

    /// Reads a line.
    ///
    /// - Parameter position: Where it is, as a commit or a visit said.
    /// - Returns: The line's bytes, without its newline.
    /// - Throws: ``FileError``, ``LogError/unknownPosition(_:)``, or ``LogError/closed(path:)``.
    package func read(_ position: LogPosition) throws -> [UInt8] {
        guard let table = files.withLock({ $0 }) else { throw closed }
        guard let file = table[position.file], position.length <= LogMarks.maximumLine else {
            throw LogError.unknownPosition(position)
        }
        do {
            let bytes = try file.read(at: position.offset, count: Int(position.length))
            guard bytes.count == Int(position.length) else { throw LogError.unknownPosition(position) }
            return bytes
        } catch let error as FileError {
            // It may have been closed just before.
            try checkOpen()
            throw error
        }
    }

    /// Closes the files: from then on every call throws ``LogError/closed(path:)``, and a compaction installs nothing.
    package func close() {
        let open = files.withLock { table in
            defer { table = nil }
            return table.map { Array($0.values) } ?? []
        }
        for file in open { file.close() }
    }

    private var closed: LogError { .closed(path: place.directory) }

    func checkOpen() throws {
        if files.withLock({ $0 == nil }) { throw closed }
    }

    /// Goes on in a new file, where the disk cannot be trusted with the end of the present one.
    package func continueInNewFile() throws {
        try writer.withLock { writer in
            try checkOpen()
            try beginJournal(&writer)
        }
    }

    func beginJournalIfNeeded(_ writer: inout LogWriter) throws {
        // Without a compaction for this long, the file would become too large to be read.
        guard writer.needsNewJournal || writer.active.size > LogMarks.maximumFile / 2 else { return }
        // What a failed write has left behind may have any size.
        try writer.checkStillOurs()
        try beginJournal(&writer)
    }

    /// Goes on in a new file; the one before is frozen.
    func beginJournal(_ writer: inout LogWriter) throws {
        // Entries flushed into the next file must not survive earlier ones that are lost.
        if !writer.needsNewJournal { try writer.flushRest() }
        let previous = writer.active
        let name = LogFileName(.journal, try place.number(after: previous.name))
        // If this fails halfway, the new journal may be there and say how much of this one counts.
        writer.needsNewJournal = true
        let journal = try place.makeJournal(name, previousSize: previous.size)
        writer.parts.append(previous)
        writer.active = journal
        writer.needsNewJournal = false
        files.withLock { $0?[name.identifier] = journal.file }
    }
}
