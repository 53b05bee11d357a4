/// Lines to be committed together: wholly there after a crash, or wholly absent.
package struct LogGroup: Sendable {
    /// The lines, each with its newline.
    private(set) var bytes: [UInt8] = []
    /// How many bytes each line has, without its newline.
    private(set) var lengths: [UInt32] = []

    package init() {}

    package var count: Int { lengths.count }
    package var isEmpty: Bool { lengths.isEmpty }
    /// How many bytes the lines have together.
    package var byteCount: Int { bytes.count }

    /// Adds a line, given without its newline.
    ///
    /// - Parameter line: One JSON value without a newline in it, not beginning as the log's own marks do.
    /// - Throws: ``LogError/unusableLine``, and adds nothing.
    package mutating func append(_ line: UnsafeRawBufferPointer) throws(LogError) {
        guard !line.isEmpty, line.count <= LogMarks.maximumLine, !LogMarks.isReserved(line),
            line.firstNewline(from: 0) == nil
        else { throw .unusableLine }
        bytes.append(contentsOf: line)
        bytes.append(newline)
        lengths.append(UInt32(line.count))
    }

    /// Adds a line, given without its newline.
    ///
    /// - Parameter line: As above.
    /// - Throws: ``LogError/unusableLine``, and adds nothing.
    package mutating func append(_ line: [UInt8]) throws(LogError) {
        let result = line.withUnsafeBytes { buffer in
            Result { () throws(LogError) in try append(buffer) }
        }
        try result.get()
    }

    /// Takes all lines out and keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
    }

    /// The mark that closes this group.
    var commitMark: LogMarks.Commit {
        var checksum = LineChecksum()
        bytes.withUnsafeBytes { buffer in
            var start = 0
            for length in lengths {
                let end = start + Int(length)
                checksum.absorb(UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
                start = end + 1
            }
        }
        return LogMarks.Commit(count: count, checksum: checksum.value(count: count), isEnd: false)
    }

    /// Where the lines are, once the group stands at an offset of a file.
    func positions(in file: UInt32, at offset: UInt64) -> [LogPosition] {
        var start = offset
        return lengths.map { length in
            defer { start += UInt64(length) + 1 }
            return LogPosition(file: file, offset: start, length: length)
        }
    }
}
