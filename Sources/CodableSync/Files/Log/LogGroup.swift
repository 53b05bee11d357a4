/// Lines that are committed together: after a crash, either all or none of them are present.
package struct LogGroup: Sendable {
    /// The lines, each with its newline.
    private(set) var bytes: [UInt8] = []
    /// The length of each line in bytes, without its newline.
    private(set) var lengths: [UInt32] = []

    package init() {}

    package var count: Int { lengths.count }
    package var isEmpty: Bool { lengths.isEmpty }
    /// The total size of the lines in bytes.
    package var byteCount: Int { bytes.count }

    /// Adds a line, given without its newline.
    ///
    /// - Parameter line: One JSON value without a newline, which does not start like one of the log's own
    ///   marks.
    /// - Throws: ``LogError/unusableLine``; nothing is added then.
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
    /// - Parameter line: One JSON value without a newline, which does not start like one of the log's own
    ///   marks.
    /// - Throws: ``LogError/unusableLine``; nothing is added then.
    package mutating func append(_ line: [UInt8]) throws(LogError) {
        let result = line.withUnsafeBytes { buffer in
            Result { () throws(LogError) in try append(buffer) }
        }
        try result.get()
    }

    /// Removes all lines and keeps the memory.
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

    /// The positions of the lines if the group starts at an offset of a file.
    func positions(in file: UInt32, at offset: UInt64) -> [LogPosition] {
        var start = offset
        return lengths.map { length in
            defer { start += UInt64(length) + 1 }
            return LogPosition(file: file, offset: start, length: length)
        }
    }
}
