/// An append-only log of JSON lines in a directory, for one owner at a time.
///
/// Lines are committed in groups: after a crash at any moment, a group is complete or absent. A flushed group
/// survives a power loss. Opening visits every committed line, checks every byte, and reports damage; only
/// what stands behind the groups of a snapshot is left to its readers, who know where it is and how to check it.
/// Compaction writes a snapshot of the lines that still matter, while the owner continues to append.
///
/// Only one thread may append or compact at a time; ``read(_:)`` may be called from any thread.
package final class JSONLog: Sendable {
    let place: LogPlace
    /// The state for appending; a commit holds its lock while it writes and flushes.
    let writer: Locked<LogWriter>
    /// The open files by their identifiers; `nil` once the log is closed.
    ///
    /// The lock is held only for a look-up, so that reading never waits for a flush.
    let files: Locked<[UInt32: any OpenFile]?>

    /// Files in the directory that do not belong to this log; the next compaction removes them.
    let foreignFiles: Set<LogFileName>

    init(place: LogPlace, parts: [LogPart], active: LogPart, foreignFiles: Set<LogFileName>) {
        self.place = place
        self.foreignFiles = foreignFiles
        var table: [UInt32: any OpenFile] = [:]
        for part in parts + [active] { table[part.name.identifier] = part.file }
        files = Locked(table)
        writer = Locked(LogWriter(place: place, parts: parts, active: active))
    }

    /// The total size of the log's files in bytes.
    package var byteCount: UInt64 {
        writer.withLock { writer in
            (writer.parts + [writer.active]).reduce(0) { $0 + $1.size }
        }
    }

    /// The number of the log's files.
    package var fileCount: Int { writer.withLock { $0.parts.count + 1 } }

    /// The size of the log's snapshot in bytes; 0 if there is none.
    package var snapshotByteCount: UInt64 {
        writer.withLock { $0.parts.first { $0.name.kind == .snapshot }?.size ?? 0 }
    }

    /// The lines behind the groups of the log's snapshot, and its file's identifier; `nil` if there are none.
    ///
    /// An opening does not check them.
    package var rear: (file: UInt32, range: Range<UInt64>)? {
        writer.withLock { writer in
            writer.parts.first { $0.rear != nil }.flatMap { part in
                part.rear.map { (part.name.identifier, $0) }
            }
        }
    }

    /// Sets the label of new files.
    ///
    /// - Parameter label: One JSON value on one line.
    package func relabel(_ label: [UInt8]) {
        place.identity.withLock { $0.label = label }
    }

    /// Writes a group of lines with one system call.
    ///
    /// After an error, nothing of the group is committed, and the caller may try again. Written parts of the
    /// group are cut off, or left behind in a journal that is not continued if the disk cannot be trusted
    /// with that.
    ///
    /// - Parameters:
    ///   - group: The lines; an empty group writes nothing.
    ///   - flush: Whether the lines must survive a power loss rather than only a crash of this process.
    /// - Returns: The positions of the lines.
    /// - Throws: ``FileError``, ``LogError/replaced(path:)``, or ``LogError/closed(path:)``.
    @discardableResult
    package func commit(_ group: LogGroup, flush: Bool) throws -> [LogPosition] {
        try writer.withLock { writer in
            try checkOpen()
            try beginJournalIfNeeded(&writer)
            return try writer.commit(group, flush: flush)
        }
    }

    /// Writes a group, flushed, as the first one of a new journal with another label.
    ///
    /// After a crash, both are there or neither. After an error, neither counts, unless the disk refuses even to remove
    /// the journal.
    ///
    /// - Parameters:
    ///   - group: The lines.
    ///   - label: One JSON value on one line.
    /// - Returns: The positions of the lines.
    /// - Throws: As for a single group.
    package func commit(_ group: LogGroup, labelling label: [UInt8]) throws -> [LogPosition] {
        try writer.withLock { writer in
            try checkOpen()
            if writer.needsNewJournal { try writer.checkStillOurs() } else { try writer.checkStillThere() }
            let former = place.identity.withLock { $0.label }
            relabel(label)
            do {
                try beginJournal(&writer, with: group)
            } catch {
                relabel(former)
                throw error
            }
            let active = writer.active
            let start = active.ranges.first?.lowerBound ?? active.size
            return group.positions(in: active.name.identifier, at: start)
        }
    }

    /// Reads a line.
    ///
    /// - Parameter position: The position, from a commit or a visit.
    /// - Returns: The line's bytes, without its newline.
    /// - Throws: ``FileError``, ``LogError/unknownPosition(_:)``, or ``LogError/closed(path:)``.
    package func read(_ position: LogPosition) throws -> [UInt8] {
        guard position.length <= LogMarks.maximumLine else { throw LogError.unknownPosition(position) }
        return try readAll(position)
    }

    /// Reads several lines at once, with the newlines between them.
    func readAll(_ position: LogPosition) throws -> [UInt8] {
        guard let table = files.withLock({ $0 }) else { throw closed }
        guard let file = table[position.file] else { throw LogError.unknownPosition(position) }
        do {
            let bytes = try file.read(at: position.offset, count: Int(position.length))
            guard bytes.count == Int(position.length) else { throw LogError.unknownPosition(position) }
            return bytes
        } catch let error as FileError {
            // The log may have been closed just before.
            try checkOpen()
            throw error
        }
    }

    /// Copies a snapshot aside, because a line behind its groups is damaged.
    package func setAside(_ position: LogPosition) throws -> LogDamage {
        let name = LogFileName(identifier: position.file).text
        var damage = LogDamage(file: name, line: 0, offset: position.offset, reason: .checksum)
        let names = try place.fileSystem.contents(ofDirectory: place.directory)
        damage.copy = try place.copyAside(name, existing: names)
        return damage
    }

    /// Visits the lines behind the groups of the snapshot.
    package func visitRear(_ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void) throws {
        guard let (identifier, range) = rear, let file = files.withLock({ $0?[identifier] }) else { return }
        try LogLines(file: file, range: range).forEach { line in
            let length = UInt32(clamping: line.length)
            try visit(line.bytes, LogPosition(file: identifier, offset: line.offset, length: length))
            return true
        }
    }

    /// Closes the files: later calls throw ``LogError/closed(path:)``, and a running compaction installs
    /// nothing.
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

    /// Continues in a new file if the disk cannot be trusted with the end of the current one, or if that is
    /// too large.
    package func continueInNewFile() throws {
        try writer.withLock { writer in
            try checkOpen()
            try beginJournal(&writer)
        }
    }

    func beginJournalIfNeeded(_ writer: inout LogWriter) throws {
        // Without a compaction, the file would become too large to be read.
        guard writer.needsNewJournal || writer.active.size > LogMarks.maximumFile / 2 else { return }
        // A failed write may have left any number of bytes behind.
        try writer.checkStillOurs()
        try beginJournal(&writer)
    }

    /// Continues in a new file, and freezes the previous one.
    func beginJournal(_ writer: inout LogWriter, with group: LogGroup = LogGroup()) throws {
        // Entries flushed into the next file must not survive if earlier ones are lost.
        if !writer.needsNewJournal { try writer.flushRest() }
        let previous = writer.active
        let name = LogFileName(.journal, try place.number(after: previous.name))
        // If this fails halfway, the new journal may exist and state how much of this one is valid.
        writer.needsNewJournal = true
        let journal: LogPart
        do {
            journal = try place.makeJournal(name, previousSize: previous.size, with: group)
        } catch {
            // A group that is refused must not count after the next opening.
            if !group.isEmpty { try place.removeIfThere(name) }
            throw error
        }
        writer.parts.append(previous)
        writer.active = journal
        writer.needsNewJournal = false
        files.withLock { $0?[name.identifier] = journal.file }
    }
}
