#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One line read from a file.
struct LogLine {
    /// The bytes without the newline; valid only during the visit, and empty if the line is too long.
    var bytes: UnsafeRawBufferPointer
    /// The offset of its first byte.
    var offset: UInt64
    /// Its length in bytes, without the newline.
    var length: UInt64
    /// Whether the line ends with a newline rather than with the end of the range.
    var isTerminated: Bool
    /// Whether the line was skipped because it is too long.
    var isTooLong: Bool { length > UInt64(LogMarks.maximumLine) }
    /// The offset of the next line.
    var end: UInt64 { offset + length + (isTerminated ? 1 : 0) }
}

/// Reads a part of a file line by line in chunks, so that memory is bounded by the longest line.
struct LogLines {
    var file: any OpenFile
    var range: Range<UInt64>
    var chunk = 1 << 20

    /// Visits the lines in order, until one visit returns `false`.
    func forEach(_ visit: (LogLine) throws -> Bool) throws {
        var window = LineWindow(start: range.lowerBound, capacity: chunk + 64)
        defer { window.buffer.deallocate() }
        repeat {
            guard try window.fill(from: file, upTo: range.upperBound) else {
                if let rest = window.unfinishedLine { _ = try visit(rest) }
                return
            }
        } while try window.takeLines(visit)
    }
}

/// The part of a file that is in memory: an incomplete line, and the bytes read after it.
private struct LineWindow {
    private(set) var buffer: UnsafeMutableRawBufferPointer
    /// The offset of the incomplete line in the file.
    private var lineStart: UInt64
    /// How many bytes of the incomplete line were dropped because it is too long.
    private var passedOver: UInt64 = 0
    /// How many bytes of the incomplete line are at the start of the buffer.
    private var held = 0
    /// The number of bytes in the buffer.
    private var filled = 0

    init(start: UInt64, capacity: Int) {
        buffer = .allocate(byteCount: capacity, alignment: 16)
        lineStart = start
    }

    /// Reads more bytes; returns whether there were any.
    mutating func fill(from file: any OpenFile, upTo end: UInt64) throws -> Bool {
        if held == buffer.count { grow() }
        let position = min(lineStart + passedOver + UInt64(held), end)
        let wanted = Int(min(UInt64(buffer.count - held), end - position))
        let space = UnsafeMutableRawBufferPointer(rebasing: buffer[held..<(held + wanted)])
        let count = try file.read(at: position, into: space)
        filled = held + count
        return count > 0
    }

    /// Visits the complete lines; returns whether to continue.
    mutating func takeLines(_ visit: (LogLine) throws -> Bool) throws -> Bool {
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
        var start = 0
        var searched = held
        while let end = bytes.firstNewline(from: searched) {
            let line = line(bytes, start..<end, isTerminated: true)
            guard try visit(line) else { return false }
            lineStart = line.end
            passedOver = 0
            start = end + 1
            searched = start
        }
        keep(from: start)
        return true
    }

    /// The line without a newline at the end; `nil` if there is none.
    var unfinishedLine: LogLine? {
        guard passedOver > 0 || held > 0 else { return nil }
        return line(UnsafeRawBufferPointer(buffer), 0..<held, isTerminated: false)
    }

    private func line(_ bytes: UnsafeRawBufferPointer, _ part: Range<Int>, isTerminated: Bool) -> LogLine {
        let length = passedOver + UInt64(part.count)
        let isWhole = length <= UInt64(LogMarks.maximumLine)
        return LogLine(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[isWhole ? part : 0..<0]),
            offset: lineStart,
            length: length,
            isTerminated: isTerminated
        )
    }

    /// Keeps the incomplete line, unless it is too long.
    private mutating func keep(from start: Int) {
        held = filled - start
        if passedOver > 0 || held > LogMarks.maximumLine {
            passedOver += UInt64(held)
            held = 0
        } else if start > 0, held > 0, let base = buffer.baseAddress {
            base.copyMemory(from: base + start, byteCount: held)
        }
    }

    private mutating func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
        buffer.deallocate()
        buffer = larger
    }
}

extension UnsafeRawBufferPointer {
    /// The offset behind the last zeros, of which there are at least two in a row; `nil` if there are none.
    var endOfHole: Int? {
        guard let base = baseAddress, memchr(base, 0, count) != nil else { return nil }
        return indices.last { $0 > 0 && self[$0] == 0 && self[$0 - 1] == 0 }.map { $0 + 1 }
    }

    /// The first newline at or after an offset.
    func firstNewline(from start: Int) -> Int? {
        guard start < count, let base = baseAddress else { return nil }
        guard let found = memchr(base + start, Int32(newline), count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
