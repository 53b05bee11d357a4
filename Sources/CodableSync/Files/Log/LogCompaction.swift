/// A running compaction, which reads the frozen files and writes the snapshot that replaces them.
///
/// Only one thread at a time may use it, not necessarily the thread that appends. If it is released before it
/// finishes, it leaves a file that the next opening removes.
package final class LogCompaction: Sendable {
    private let log: JSONLog
    private let frozen: [LogPart]
    private let snapshot: Locked<SnapshotWriter>

    init(log: JSONLog, frozen: [LogPart], name: LogFileName) throws {
        self.log = log
        self.frozen = frozen
        snapshot = try Locked(SnapshotWriter(log.place, name))
    }

    /// Visits every committed line that the snapshot replaces, in order.
    ///
    /// - Throws: ``LogError/damaged(path:_:)`` if a file differs from what was committed: some lines were
    ///   then not visited, so no snapshot may replace them; ``FileError``, or an error of `visit`.
    package func replay(_ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void) throws {
        for part in frozen { try part.replay(visit) }
    }

    /// Writes a line into the snapshot.
    ///
    /// - Parameters:
    ///   - line: The line, without its newline.
    ///   - isAlone: Whether the line is its own group, so that it survives damage to its neighbours.
    /// - Returns: Its position once the compaction is finished.
    /// - Throws: ``FileError``, or ``LogError/unusableLine``.
    package func append(_ line: [UInt8], isAlone: Bool = false) throws -> LogPosition {
        try snapshot.withLock { snapshot in
            try line.withUnsafeBytes { try snapshot.append($0, isAlone: isAlone) }
        }
    }

    /// Copies a line of the log into the snapshot, and returns its new position.
    package func copy(_ position: LogPosition) throws -> LogPosition {
        try append(try log.read(position))
    }

    /// Closes the snapshot and gives it its final name; later openings start with it.
    ///
    /// - Throws: ``FileError``, ``LogError/closed(path:)``, or ``LogError/replaced(path:)`` if the directory
    ///   is not the one that was opened.
    package func finish() throws -> CompactedLog {
        try log.checkOpen()
        try log.writer.withLock { try $0.checkStillOurs() }
        return try finishSnapshot()
    }

    private func finishSnapshot() throws -> CompactedLog {
        try snapshot.withLock { snapshot in CompactedLog(snapshot: try snapshot.finish()) }
    }

    /// Cancels the compaction, and removes its file.
    package func cancel() throws {
        try snapshot.withLock { snapshot in try snapshot.cancel() }
    }
}

/// A finished snapshot that the log does not use yet.
package struct CompactedLog: Sendable {
    let snapshot: LogPart
}

/// Writes a snapshot under a temporary name, in large pieces.
private struct SnapshotWriter: Sendable {
    private let place: LogPlace
    private let name: LogFileName
    private let temporary: String
    private let file: any OpenFile
    private let headerSize: UInt64
    private var group = LogGroup()
    /// Complete groups that are not written yet.
    private var piece: [UInt8] = []
    private var lineCount = 0
    private var size: UInt64

    /// The size of a group, small enough that damage to one group loses little.
    private static let groupSize = 4 << 10
    /// The size of a write, large enough to need few system calls.
    private static let pieceSize = 256 << 10

    init(_ place: LogPlace, _ name: LogFileName) throws {
        self.place = place
        self.name = name
        temporary = place.path(name) + ".tmp"
        file = try place.fileSystem.openFile(at: temporary, for: .replacing)
        let header = place.header(of: name)
        try file.append(header)
        headerSize = UInt64(header.count)
        size = headerSize
    }

    mutating func append(_ line: UnsafeRawBufferPointer, isAlone: Bool) throws -> LogPosition {
        if isAlone { closeGroup() }
        let offset = size + UInt64(piece.count + group.byteCount)
        try group.append(line)
        lineCount += 1
        if isAlone || group.byteCount >= Self.groupSize { closeGroup() }
        if piece.count >= Self.pieceSize { try writePiece() }
        return LogPosition(file: name.identifier, offset: offset, length: UInt32(line.count))
    }

    private mutating func closeGroup() {
        guard !group.isEmpty else { return }
        piece += group.bytes
        piece += LogMarks.commit(group.commitMark)
        group.removeAll()
    }

    private mutating func writePiece() throws {
        guard !piece.isEmpty else { return }
        // The same limit holds for reading and writing.
        guard size + UInt64(piece.count) < LogMarks.maximumFile else {
            throw LogError.tooLarge(path: place.path(name), size: size)
        }
        try file.append(piece)
        size += UInt64(piece.count)
        piece.removeAll(keepingCapacity: true)
    }

    mutating func finish() throws -> LogPart {
        closeGroup()
        try writePiece()
        let checksum = LineChecksum().value(count: lineCount)
        let end = LogMarks.commit(LogMarks.Commit(count: lineCount, checksum: checksum, isEnd: true))
        try file.append(end)
        size += UInt64(end.count)
        try file.flush()
        try place.fileSystem.rename(temporary, to: place.path(name))
        try place.fileSystem.syncDirectory(place.directory)
        return LogPart(name: name, file: file, ranges: [headerSize..<size], size: size)
    }

    func cancel() throws {
        file.close()
        // The temporary file no longer exists if the last step failed after the rename.
        if try place.fileSystem.status(of: temporary) != nil { try place.fileSystem.remove(temporary) }
    }
}
