#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One line as it is read from a file.
struct LogLine {
    /// The bytes without the newline; valid during the visit only, empty if the line is too long.
    var bytes: UnsafeRawBufferPointer
    /// Where it begins.
    var offset: UInt64
    /// How many bytes it has, without the newline.
    var length: UInt64
    /// Whether a newline ended it, rather than the end of the range.
    var isTerminated: Bool
    /// Whether it was longer than a line may be, and passed over.
    var isTooLong: Bool { length > UInt64(LogMarks.maximumLine) }
    /// Where the next line begins.
    var end: UInt64 { offset + length + (isTerminated ? 1 : 0) }
}

/// Reads a part of a file line by line, a chunk at a time: memory is bounded by the longest line.
struct LogLines {
    var file: any OpenFile
    var range: Range<UInt64>
    var chunk = 1 << 20

    /// Visits the lines in order, until one visit returns `false`.
    func forEach(_ visit: (LogLine) throws -> Bool) throws {
        var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk + 64, alignment: 16)
        defer { buffer.deallocate() }
        var lineStart = range.lowerBound
        // Bytes of the unfinished line that stand at the beginning of the buffer, and those of it passed over.
        var held = 0
        var passedOver: UInt64 = 0
        while true {
            let readFrom = lineStart + passedOver + UInt64(held)
            if held == buffer.count { buffer = grown(buffer) }
            let wanted = min(UInt64(buffer.count - held), range.upperBound - min(readFrom, range.upperBound))
            let count = try file.read(
                at: readFrom,
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[held..<(held + Int(wanted))])
            )
            let filled = UnsafeRawBufferPointer(rebasing: buffer[..<(held + count)])
            if count == 0 {
                let length = passedOver + UInt64(held)
                guard length > 0 else { return }
                let bytes = passedOver == 0 ? filled : UnsafeRawBufferPointer(start: nil, count: 0)
                _ = try visit(LogLine(bytes: bytes, offset: lineStart, length: length, isTerminated: false))
                return
            }
            var start = 0
            while let end = filled.firstNewline(from: max(start, start == 0 ? held : start)) {
                let length = passedOver + UInt64(end - start)
                let isWhole = length <= UInt64(LogMarks.maximumLine)
                let bytes = UnsafeRawBufferPointer(rebasing: filled[start..<(isWhole ? end : start)])
                let line = LogLine(bytes: bytes, offset: lineStart, length: length, isTerminated: true)
                guard try visit(line) else { return }
                lineStart = line.end
                passedOver = 0
                start = end + 1
            }
            held = filled.count - start
            if passedOver > 0 || held > LogMarks.maximumLine {
                passedOver += UInt64(held)
                held = 0
            } else if start > 0, held > 0, let base = buffer.baseAddress {
                base.copyMemory(from: base + start, byteCount: held)
            }
        }
    }

    private func grown(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
        buffer.deallocate()
        return larger
    }
}

extension UnsafeRawBufferPointer {
    /// The first newline at or after an offset.
    func firstNewline(from start: Int) -> Int? {
        guard start < count, let base = baseAddress else { return nil }
        guard let found = memchr(base + start, Int32(newline), count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
