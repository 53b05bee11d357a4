/// A compaction that has begun: the log's frozen files can be read, and a snapshot replaces them.
///
/// Any thread may write the snapshot, not necessarily the one that appends.
package struct LogCompaction: Sendable {
    let log: JSONLog
    let name: LogFileName

    /// Writes the snapshot and gives it its final name; later openings start with it.
    ///
    /// - Parameter body: Writes the lines of the snapshot, and returns lines of the log that are copied behind them as
    ///   they are. An opening neither visits nor checks those.
    /// - Returns: The snapshot, which the log does not use yet.
    /// - Throws: An error of `body`, ``FileError``, ``LogError/closed(path:)``, or ``LogError/replaced(path:)`` if
    ///   the directory is not the one that was opened; the file is removed then.
    package func write(_ body: (inout SnapshotWriter) throws -> [LogPosition]) throws -> CompactedLog {
        var snapshot = try SnapshotWriter(log.place, name)
        do {
            let rear = try body(&snapshot)
            try log.checkOpen()
            try snapshot.finishGroups(behind: rear.reduce(0) { $0 + UInt64($1.length) + 1 })
            var next = 0
            while next < rear.count {
                let piece = rear.piece(from: next)
                try snapshot.copy(log.readAll(piece.position))
                next += piece.count
            }
            try log.writer.withLock { try $0.checkStillOurs() }
            return CompactedLog(snapshot: try snapshot.finish())
        } catch {
            try snapshot.cancel()
            throw error
        }
    }
}

/// A finished snapshot that the log does not use yet.
package struct CompactedLog: Sendable {
    let snapshot: LogPart

    /// Where its copied lines start.
    package var rear: LogPosition {
        LogPosition(
            file: snapshot.name.identifier,
            offset: snapshot.rear?.lowerBound ?? snapshot.size,
            length: 0
        )
    }
}

extension [LogPosition] {
    /// Lines that stand one behind the other in a file, as one position without its last newline.
    fileprivate func piece(from start: Int) -> (position: LogPosition, count: Int) {
        var piece = self[start]
        var count = 1
        while start + count < self.count {
            let next = self[start + count]
            guard next.file == piece.file, next.offset == piece.offset + UInt64(piece.length) + 1,
                piece.length + next.length < SnapshotWriter.pieceSize
            else { break }
            piece.length += next.length + 1
            count += 1
        }
        return (piece, count)
    }
}

/// Writes a snapshot under a temporary name, in large pieces.
package struct SnapshotWriter: Sendable {
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
    private var rearStart: UInt64?
    /// How much was written since the file was last flushed.
    private var unflushed = 0

    /// The size of a group, small enough that damage to one group loses little.
    private static let groupSize = 4 << 10
    /// The size of a write, large enough to need few system calls.
    fileprivate static let pieceSize = 256 << 10
    /// How much is flushed at once, so that the flush of a call beside it does not wait for everything.
    private static let flushSize = 4 << 20

    fileprivate init(_ place: LogPlace, _ name: LogFileName) throws {
        self.place = place
        self.name = name
        temporary = place.path(name) + ".tmp"
        file = try place.fileSystem.openFile(at: temporary, for: .replacing)
        let header = place.header(of: name)
        try file.append(header)
        headerSize = UInt64(header.count)
        size = headerSize
    }

    /// Writes a line.
    ///
    /// - Parameters:
    ///   - line: The line, without its newline.
    ///   - isAlone: Whether the line is its own group, so that it survives damage to its neighbours.
    /// - Returns: Its position once the compaction is finished.
    /// - Throws: ``FileError``, or ``LogError/unusableLine``.
    package mutating func append(_ line: [UInt8], isAlone: Bool = false) throws -> LogPosition {
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
        unflushed += piece.count
        piece.removeAll(keepingCapacity: true)
        if unflushed >= Self.flushSize {
            try file.flush()
            unflushed = 0
        }
    }

    /// Writes the mark behind the last group.
    fileprivate mutating func finishGroups(behind: UInt64) throws {
        closeGroup()
        piece += LogMarks.commit(.end(count: lineCount, behind: behind))
        try writePiece()
        if behind > 0 { rearStart = size }
    }

    /// Writes lines behind the groups; the last one is without its newline.
    fileprivate mutating func copy(_ lines: [UInt8]) throws {
        piece += lines
        piece.append(newline)
        if piece.count >= Self.pieceSize { try writePiece() }
    }

    fileprivate mutating func finish() throws -> LogPart {
        try writePiece()
        try file.flush()
        try place.fileSystem.rename(temporary, to: place.path(name))
        try place.fileSystem.syncDirectory(place.directory)
        var part = LogPart(name: name, file: file, ranges: [headerSize..<(rearStart ?? size)], size: size)
        part.rear = rearStart.map { $0..<size }
        return part
    }

    fileprivate func cancel() throws {
        file.close()
        // The temporary file no longer exists if the last step failed after the rename.
        if try place.fileSystem.status(of: temporary) != nil { try place.fileSystem.remove(temporary) }
    }
}
