import Foundation

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
        // The bytes of an incomplete line, and how many were dropped before them because it is too long.
        var held: [UInt8] = []
        var dropped: UInt64 = 0
        var start = range.lowerBound
        while true {
            let position = min(start + dropped + UInt64(held.count), range.upperBound)
            let wanted = min(UInt64(chunk), range.upperBound - position)
            let read = try file.read(at: position, count: Int(wanted))
            if read.isEmpty { break }
            var searched = held.count
            var used = 0
            held += read
            let goesOn = try held.withUnsafeBytes { bytes in
                while let end = bytes.firstNewline(from: searched) {
                    let line = LogLine(bytes[used..<end], behind: dropped, at: start, isTerminated: true)
                    guard try visit(line) else { return false }
                    (start, dropped) = (line.end, 0)
                    used = end + 1
                    searched = used
                }
                return true
            }
            if !goesOn { return }
            held.removeFirst(used)
            guard dropped > 0 || held.count > LogMarks.maximumLine else { continue }
            dropped += UInt64(held.count)
            held.removeAll()
        }
        if held.isEmpty, dropped == 0 { return }
        _ = try held.withUnsafeBytes {
            try visit(LogLine($0[...], behind: dropped, at: start, isTerminated: false))
        }
    }
}

extension LogLine {
    fileprivate init(
        _ bytes: Slice<UnsafeRawBufferPointer>,
        behind dropped: UInt64,
        at offset: UInt64,
        isTerminated: Bool
    ) {
        length = dropped + UInt64(bytes.count)
        let isWhole = length <= UInt64(LogMarks.maximumLine)
        self.bytes = UnsafeRawBufferPointer(rebasing: isWhole ? bytes : bytes.prefix(0))
        self.offset = offset
        self.isTerminated = isTerminated
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
