/// A compaction under way: reads the files that are not appended to any more, and writes the snapshot that is to
/// stand for them.
///
/// It belongs to one thread at a time, which need not be the one that appends. Released before it is finished, it
/// leaves a file that the next opening removes.
package final class LogCompaction: Sendable {
    private let log: JSONLog
    private let frozen: [LogPart]
    private let snapshot: Locked<SnapshotWriter>

    init(log: JSONLog, frozen: [LogPart], name: LogFileName) throws {
        self.log = log
        self.frozen = frozen
        snapshot = try Locked(SnapshotWriter(log.place, name))
    }

    /// Visits every committed line that the snapshot is to stand for, in order.
    package func replay(_ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void) throws {
        for part in frozen { try LogScan.visit(part.ranges, of: part.file, part.name, visit) }
    }

    /// Writes a line into the snapshot; returns where it will be once the compaction is finished.
    package func append(_ line: [UInt8]) throws -> LogPosition {
        try snapshot.withLock { snapshot in
            try line.withUnsafeBytes { try snapshot.append($0) }
        }
    }

    /// Writes a line of the log into the snapshot as it is; returns where it will be.
    package func copy(_ position: LogPosition) throws -> LogPosition {
        try append(try log.read(position))
    }

    /// Closes the snapshot and puts it in its place: from here on an opening begins with it.
    ///
    /// - Throws: ``FileError``, or ``LogError/replaced(path:)`` if the directory is not the one that was opened.
    package func finish() throws -> CompactedLog {
        try log.writer.withLock { try $0.checkStillOurs() }
        return try finishSnapshot()
    }

    private func finishSnapshot() throws -> CompactedLog {
        try snapshot.withLock { snapshot in CompactedLog(snapshot: try snapshot.finish()) }
    }

    /// Gives up, and removes what was written.
    package func cancel() throws {
        try snapshot.withLock { snapshot in try snapshot.cancel() }
    }
}

/// A finished snapshot, which the log is still to be told of.
package struct CompactedLog: Sendable {
    let snapshot: LogPart
}

/// Writes a snapshot under a temporary name, a large piece at a time.
private struct SnapshotWriter: Sendable {
    private let place: LogPlace
    private let name: LogFileName
    private let temporary: String
    private let file: any OpenFile
    private let headerSize: UInt64
    private var group = LogGroup()
    private var lineCount = 0
    private var size: UInt64

    /// Enough for few calls, and little enough that damage to one piece does not cost much.
    private static let pieceSize = 256 << 10

    init(_ place: LogPlace, _ name: LogFileName) throws {
        self.place = place
        self.name = name
        temporary = place.path(name) + ".tmp"
        file = try place.fileSystem.openFile(at: temporary, for: .replacing)
        let header = LogMarks.header(
            format: place.format,
            version: place.version,
            kind: .snapshot,
            previousSize: nil
        )
        try file.append(header)
        headerSize = UInt64(header.count)
        size = headerSize
    }

    mutating func append(_ line: UnsafeRawBufferPointer) throws -> LogPosition {
        let offset = size + UInt64(group.byteCount)
        try group.append(line)
        lineCount += 1
        if group.byteCount >= Self.pieceSize { try writePiece() }
        return LogPosition(file: name.identifier, offset: offset, length: UInt32(line.count))
    }

    private mutating func writePiece() throws {
        guard !group.isEmpty else { return }
        let bytes = group.bytes + LogMarks.commit(group.commitMark)
        try file.append(bytes)
        size += UInt64(bytes.count)
        group.removeAll()
    }

    mutating func finish() throws -> LogPart {
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
        // It is gone where the last step failed after the file had got its name.
        if try place.fileSystem.status(of: temporary) != nil { try place.fileSystem.remove(temporary) }
    }
}
