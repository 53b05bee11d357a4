/// The findings of reading one file of a log from start to end.
struct LogScan {
    let name: LogFileName
    /// The file's size.
    let size: UInt64
    /// The header in the first line; `nil` if it is damaged.
    private(set) var header: LogHeader?
    /// The parts with valid checksums, with adjacent parts joined.
    private(set) var committed: [Range<UInt64>] = []
    /// The damaged parts.
    private(set) var damages: [LogDamage] = []
    /// The end of the last part with a valid checksum.
    private(set) var end: UInt64 = 0
    /// Whether the mark that ends a whole file was found with nothing after it.
    private(set) var isEnded = false
    /// The lines behind that mark, which are checked when they are read; of a snapshot without it, everything behind
    /// the last group.
    private(set) var rear: Range<UInt64>?
    /// Whether the last mark is complete except for its newline, as some editors leave a file.
    private(set) var isNewlineMissing = false
    /// The number of lines in the committed parts, without marks.
    private(set) var lineCount = 0

    private let format: String
    private let supported: ClosedRange<UInt64>
    /// Whether a mark without a newline may be another process's unfinished write.
    private var isShared = false
    private let file: any OpenFile
    private var line = 0
    private var group = OpenGroup()
    /// Whether the newline between the previous part and the next one is missing.
    private var isJoinBroken = false

    /// The lines since the last mark.
    private struct OpenGroup {
        var start: UInt64 = 0
        var line = 1
        var count = 0
        var checksum = LineChecksum()
        var damage: LogDamage.Reason?
    }

    /// Reads a file, up to `limit` if the file contains more than was committed.
    static func scan(
        _ file: any OpenFile,
        _ name: LogFileName,
        format: String,
        supported: ClosedRange<UInt64>,
        limit: UInt64? = nil
    ) throws -> LogScan {
        let size = try file.size()
        guard size <= LogMarks.maximumFile else { throw LogError.tooLarge(path: file.path, size: size) }
        var scan = LogScan(file, name, size: min(size, limit ?? size), format: format, supported: supported)
        if size == 0 { scan.report(.empty, line: 0, offset: 0) }
        try LogLines(file: file, range: 0..<scan.size).forEach { line in
            try scan.take(line)
            return scan.rear == nil
        }
        scan.finish()
        if let limit, size < limit, scan.damages.last?.reason != .cutOff {
            scan.report(.cutOff, line: scan.line, offset: size)
        }
        return scan
    }

    /// Reads what was appended to a journal after a mark.
    static func scan(_ file: any OpenFile, _ name: LogFileName, behind offset: UInt64) throws -> LogScan {
        var scan = LogScan(file, name, size: max(offset, try file.size()), format: "", supported: 0...0)
        scan.isShared = true
        scan.line = 1
        scan.end = offset
        scan.startGroup(at: offset, line: 2)
        try LogLines(file: file, range: offset..<scan.size).forEach { line in
            try scan.take(line)
            return true
        }
        scan.finish()
        return scan
    }

    private init(
        _ file: any OpenFile,
        _ name: LogFileName,
        size: UInt64,
        format: String,
        supported: ClosedRange<UInt64>
    ) {
        self.file = file
        self.name = name
        self.size = size
        self.format = format
        self.supported = supported
    }

    private mutating func report(_ reason: LogDamage.Reason, line: Int, offset: UInt64) {
        damages.append(LogDamage(file: name.text, line: line, offset: offset, reason: reason))
    }

    private mutating func take(_ line: LogLine) throws {
        self.line += 1
        isEnded = false
        if self.line == 1 { return try takeHeader(line) }
        let parts = line.partsAroundHole
        for part in parts.dropLast() { add(part) }
        if let last = parts.last { try read(last) }
    }

    private mutating func read(_ line: LogLine) throws {
        guard let (mark, length) = LogMarks.readCommit(line.bytes) else { return add(line) }
        if !line.isTornOff(at: length) {
            try close(with: mark, at: line.offset, end: line.offset + UInt64(length) + 1)
            if length < line.bytes.count { try takeRest(of: line, from: length) }
        } else if length == line.bytes.count, holds(mark), !isShared {
            isNewlineMissing = true
            try close(with: mark, at: line.offset, end: line.end)
        } else {
            add(line)
        }
    }

    private mutating func add(_ line: LogLine) {
        group.count += 1
        group.checksum.absorb(line.bytes)
        if line.isTooLong { group.damage = .lineTooLong }
        if !line.isTerminated { group.damage = group.damage ?? .cutOff }
    }

    private mutating func takeHeader(_ line: LogLine) throws {
        var length = line.bytes.count
        let found = try LogMarks.header(
            at: line.bytes,
            of: file.path,
            format: format,
            supported: supported
        )
        if let found, found.header.name == name {
            (header, length) = found
        } else {
            report(.header, line: 1, offset: 0)
        }
        let isWhole = length == line.bytes.count
        end = isWhole ? line.end : line.offset + UInt64(length) + 1
        if !line.isTerminated, length == line.bytes.count, header != nil {
            header = nil
            report(.header, line: 1, offset: 0)
        }
        startGroup(at: end, line: 2)
        if length < line.bytes.count {
            try takeRest(of: line, from: length)
        }
    }

    /// Reads the line that follows a mark whose newline is damaged.
    private mutating func takeRest(of line: LogLine, from length: Int) throws {
        report(.endOfLine, line: self.line, offset: line.offset + UInt64(length))
        isJoinBroken = true
        var rest = line
        rest.bytes = UnsafeRawBufferPointer(rebasing: line.bytes[(length + 1)...])
        rest.offset += UInt64(length) + 1
        rest.length -= UInt64(length) + 1
        guard !rest.bytes.isEmpty || line.isTerminated else { return }
        group.line = self.line
        if let (mark, _) = LogMarks.readCommit(rest.bytes), rest.isTerminated {
            try close(with: mark, at: rest.offset, end: rest.end)
        } else {
            add(rest)
        }
    }

    private mutating func startGroup(at offset: UInt64, line: Int) {
        group = OpenGroup(start: offset, line: line)
    }

    /// Whether a mark matches the group that it ends, or the whole file.
    private func holds(_ mark: LogMarks.Commit) -> Bool {
        if mark.isEnd {
            return group.count == 0 && mark == .end(count: lineCount, behind: mark.behind)
        }
        return group.damage == nil && mark.count == group.count
            && mark.checksum == group.checksum.value(count: group.count)
    }

    private mutating func close(with mark: LogMarks.Commit, at offset: UInt64, end: UInt64) throws {
        if holds(mark) {
            isEnded = mark.isEnd && end + mark.behind >= size
            accept(group.start..<end, count: group.count)
        } else {
            try closeDamaged(with: mark, at: offset, end: end)
        }
        startGroup(at: end, line: line + 1)
        // The mark is whole even if lines before it are not.
        guard mark.behind > 0, mark == .end(count: mark.count, behind: mark.behind) else { return }
        rear = min(end, size)..<min(end + mark.behind, size)
        // The last newline carries no information.
        if end + mark.behind > size + 1 { report(.cutOff, line: line, offset: size) }
        if end + mark.behind < size { report(.checksum, line: line, offset: end + mark.behind) }
    }

    /// Handles a damaged mark between two groups: the second group can still be recognised by its own count.
    private mutating func closeDamaged(with mark: LogMarks.Commit, at offset: UInt64, end: UInt64) throws {
        let reason = try group.damage ?? (hasHole(before: offset) ? .unwritten : .checksum)
        report(reason, line: group.line, offset: group.start)
        guard !mark.isEnd, mark.count > 0, mark.count < group.count else { return }
        var skipped = 0
        var start = offset
        var checksum = LineChecksum()
        var isWhole = true
        try LogLines(file: file, range: group.start..<offset).forEach { line in
            for part in line.partsAroundHole {
                skipped += 1
                guard skipped > group.count - mark.count else { continue }
                start = min(start, part.offset)
                checksum.absorb(part.bytes)
                isWhole = isWhole && !part.isTooLong
            }
            return true
        }
        if isWhole, checksum.value(count: mark.count) == mark.checksum {
            accept(start..<end, count: mark.count)
        }
    }

    /// Whether the group contains zeros, which never occur in JSON.
    ///
    /// After a power loss, a disk may have zeros in place of blocks that were not written although a later
    /// mark was. A single zero may also be a changed bit.
    private func hasHole(before offset: UInt64) throws -> Bool {
        var zeros = 0
        try LogLines(file: file, range: group.start..<offset).forEach { line in
            zeros += line.bytes.count { $0 == 0 }
            return zeros < 2
        }
        return zeros >= 2
    }

    private mutating func accept(_ range: Range<UInt64>, count: Int) {
        lineCount += count
        end = range.upperBound
        if !isJoinBroken, let last = committed.last, last.upperBound == range.lowerBound {
            committed[committed.count - 1] = last.lowerBound..<range.upperBound
        } else {
            committed.append(range)
        }
        isJoinBroken = false
    }

    private mutating func finish() {
        if group.count > 0 {
            let reason = group.damage == .lineTooLong ? .lineTooLong : LogDamage.Reason.cutOff
            report(reason, line: group.line, offset: group.start)
        } else if name.kind == .snapshot, !isEnded, damages.isEmpty {
            report(.cutOff, line: line, offset: size)
        }
        if name.kind == .snapshot, !isEnded, rear == nil, end < size { rear = end..<size }
    }
}

extension LogLine {
    /// The line, or its bytes up to the end of a hole and those behind.
    ///
    /// If a flush fails, what was written before may be lost although what is appended later is not. The zeros in its
    /// place have no newline, so that the first whole line behind them begins within this one.
    fileprivate var partsAroundHole: [LogLine] {
        guard let end = bytes.endOfHole, end < bytes.count, LogMarks.readCommit(bytes) == nil else {
            return [self]
        }
        var (hole, rest) = (self, self)
        hole.bytes = UnsafeRawBufferPointer(rebasing: bytes[..<end])
        hole.length = UInt64(end)
        hole.isTerminated = true
        rest.bytes = UnsafeRawBufferPointer(rebasing: bytes[end...])
        rest.offset += UInt64(end)
        rest.length -= UInt64(end)
        return [hole, rest]
    }

    /// Whether an interrupted write ends here: nothing follows, or only the zeros that a disk has in place of
    /// bytes that were not written.
    fileprivate func isTornOff(at length: Int) -> Bool {
        !isTerminated && (length >= bytes.count || bytes[length] == 0)
    }
}

extension LogScan {
    /// Visits the lines of committed groups, in order.
    static func visit(
        _ ranges: [Range<UInt64>],
        of file: any OpenFile,
        _ name: LogFileName,
        _ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws {
        for range in ranges {
            try LogLines(file: file, range: range).forEach { line in
                if !LogMarks.isReserved(line.bytes) {
                    let position = LogPosition(
                        file: name.identifier,
                        offset: line.offset,
                        length: UInt32(clamping: line.length)
                    )
                    try visit(line.bytes, position)
                }
                return true
            }
        }
    }
}
