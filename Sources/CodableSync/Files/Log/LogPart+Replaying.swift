extension LogPart {
    /// Visits every committed line again, and checks that the file has not changed since the commit.
    ///
    /// - Parameter visit: Called with each line and its position; the bytes are valid only during the call.
    /// - Throws: ``LogError/damaged(path:_:)`` at the end of the first group that has changed or is missing;
    ///   ``FileError``, or an error of `visit`.
    func replay(_ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void) throws {
        for range in ranges {
            var group = ReplayedGroup(start: range.lowerBound)
            try LogLines(file: file, range: range).forEach { line in
                if LogMarks.isReserved(line.bytes) {
                    guard group.isClosed(by: line) else { throw damaged(at: group.start) }
                    group = ReplayedGroup(start: line.end)
                } else {
                    group.add(line)
                    let length = UInt32(clamping: line.length)
                    try visit(
                        line.bytes,
                        LogPosition(file: name.identifier, offset: line.offset, length: length)
                    )
                }
                return true
            }
            guard group.start >= range.upperBound else { throw damaged(at: group.start) }
        }
    }

    private func damaged(at offset: UInt64) -> LogError {
        .damaged(path: file.path, LogDamage(file: name.text, line: 0, offset: offset, reason: .checksum))
    }
}

/// The lines since the last mark.
private struct ReplayedGroup {
    let start: UInt64
    private var count = 0
    private var checksum = LineChecksum()

    init(start: UInt64) {
        self.start = start
    }

    mutating func add(_ line: LogLine) {
        count += 1
        checksum.absorb(line.bytes)
    }

    /// Whether a mark matches these lines; the mark at a file's end comes after all groups.
    func isClosed(by line: LogLine) -> Bool {
        guard let (mark, _) = LogMarks.readCommit(line.bytes) else { return false }
        return mark.isEnd ? count == 0 : mark.count == count && mark.checksum == checksum.value(count: count)
    }
}
