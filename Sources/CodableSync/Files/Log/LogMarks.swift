import Foundation

/// The lines that a log writes for its own use.
///
/// Each has exactly one form, which is compared byte by byte; anything else is damage.
enum LogMarks {
    /// The mark that ends a group or a whole snapshot.
    struct Commit: Hashable {
        var count: Int
        var checksum: UInt64
        /// Whether the mark ends the file's groups, so that `count` is the number of all their lines.
        var isEnd: Bool
        /// The number of bytes behind an end.
        var behind: UInt64 = 0

        /// The mark behind the last group of a snapshot.
        ///
        /// - Parameters:
        ///   - count: The number of all lines before it.
        ///   - behind: The number of bytes behind it.
        /// - Returns: The mark.
        static func end(count: Int, behind: UInt64 = 0) -> Commit {
            var checksum = LineChecksum()
            if behind > 0 { withUnsafeBytes(of: behind.littleEndian) { checksum.absorb($0) } }
            return Commit(count: count, checksum: checksum.value(count: count), isEnd: true, behind: behind)
        }
    }

    /// The maximum length of a line; a longer one counts as damage and is not loaded into memory.
    static let maximumLine = 64 << 20
    /// The maximum size of a file; the log writes no larger files, and reading one would take hours.
    static let maximumFile: UInt64 = 64 << 30

    private static let commitStart: StaticString = #"{"commit":"#
    private static let endStart: StaticString = #"{"end":"#
    private static let behindStart: StaticString = #","behind":"#
    private static let checksumStart: StaticString = #","checksum":""#
    private static let close: StaticString = #""}"#

    static func header(_ header: LogHeader, format: String) -> [UInt8] {
        let previous = header.previousSize.map { #","previousSize":\#($0)"# } ?? ""
        let readable = header.readableFrom.map { #","readableFrom":\#($0)"# } ?? ""
        let beginning =
            #"{"format":"\#(format)","version":\#(header.version)\#(readable),"#
            + #""kind":"\#(header.name.kind.rawValue)","#
            + #""number":\#(header.name.number),"log":"\#(hexadecimal(header.log))"\#(previous),"of":"#
        let line = Array(beginning.utf8) + header.label
        return line + Array("\(checksumStart)\(hexadecimal(checksum(of: line)))\(close)\n".utf8)
    }

    /// The checksum of a header, which does not belong to a group.
    private static func checksum(of bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { checksum(of: $0) }
    }

    private static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var checksum = LineChecksum()
        checksum.absorb(bytes)
        return checksum.value(count: 1)
    }

    static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func commit(_ mark: Commit) -> [UInt8] {
        let start = mark.isEnd ? endStart : commitStart
        let behind = mark.behind > 0 ? "\(behindStart)\(mark.behind)" : ""
        let end = "\(checksumStart)\(hexadecimal(mark.checksum))\(close)\n"
        return Array("\(start)\(mark.count)\(behind)\(end)".utf8)
    }

    /// Whether a line starts like one of the log's own marks.
    static func isReserved(_ line: UnsafeRawBufferPointer) -> Bool {
        var cursor = MarkCursor(line)
        return cursor.skip(commitStart) || cursor.skip(endStart)
    }

    /// Reads a commit mark at the start of a line; `length` is the mark's length.
    static func readCommit(_ line: UnsafeRawBufferPointer) -> (mark: Commit, length: Int)? {
        guard isReserved(line) else { return nil }
        var cursor = MarkCursor(line)
        let isEnd = !cursor.skip(commitStart)
        if isEnd, !cursor.skip(endStart) { return nil }
        guard let count = cursor.number(), let count = Int(exactly: count) else { return nil }
        var behind: UInt64 = 0
        if isEnd, cursor.skip(behindStart) {
            guard let number = cursor.number(), number > 0, number < maximumFile else { return nil }
            behind = number
        }
        guard cursor.skip(checksumStart), let checksum = cursor.hexadecimal(), cursor.skip(close)
        else { return nil }
        return (Commit(count: count, checksum: checksum, isEnd: isEnd, behind: behind), cursor.offset)
    }

    /// Reads a header at the start of a line; `nil` if it is damaged.
    ///
    /// - Returns: The header, and the offset of its end.
    /// - Throws: ``LogError`` for a file of another format, or of a version that is not supported.
    static func header(
        at line: UnsafeRawBufferPointer,
        of path: String,
        format: String,
        supported: ClosedRange<UInt64>
    ) throws(LogError) -> (header: LogHeader, length: Int)? {
        var cursor = MarkCursor(line)
        guard cursor.skip(#"{"format":""#) else { return nil }
        guard cursor.skip(text: format + "\"") else {
            if cursor.isCutOff(in: format) || cursor.differsByOneByte(from: Array(format.utf8)) { return nil }
            throw .otherFormat(path: path, expected: format)
        }
        guard cursor.skip(#","version":"#), let version = cursor.number(), version > 0
        else { return nil }
        var readableFrom: UInt64?
        if cursor.skip(#","readableFrom":"#) {
            guard let number = cursor.number(), number > 0, number <= version else { return nil }
            readableFrom = number
        }
        // The rest may have an unknown form.
        guard readableFrom ?? version <= supported.upperBound else {
            throw .tooNew(path: path, found: version, supported: supported.upperBound)
        }
        var header = rest(of: &cursor, in: line, version)
        header?.header.readableFrom = readableFrom
        // In a damaged line, the version is not certain.
        if header != nil, version < supported.lowerBound {
            throw .tooOld(path: path, found: version, oldest: supported.lowerBound)
        }
        return header
    }

    private static func rest(
        of cursor: inout MarkCursor,
        in line: UnsafeRawBufferPointer,
        _ version: UInt64
    ) -> (header: LogHeader, length: Int)? {
        guard cursor.skip(#","kind":""#) else { return nil }
        let kind: LogFileName.Kind = cursor.skip("snapshot") ? .snapshot : .journal
        guard kind == .snapshot || cursor.skip("journal"),
            cursor.skip(#"","number":"#),
            let number = cursor.number().flatMap(UInt32.init(exactly:)), LogFileName.isNumber(number),
            cursor.skip(#","log":""#), let log = cursor.hexadecimal(), cursor.skip("\"")
        else { return nil }
        var previousSize: UInt64?
        if cursor.skip(#","previousSize":"#) {
            guard let size = cursor.number() else { return nil }
            previousSize = size
        }
        guard cursor.skip(#","of":"#) else { return nil }
        let labelStart = cursor.offset
        // The text contains an unescaped quotation mark, which a JSON string cannot contain, so it ends the
        // label.
        guard let labelEnd = cursor.skipTo(checksumStart), cursor.skip(checksumStart),
            let checksum = cursor.hexadecimal(), cursor.skip(close),
            checksum == self.checksum(of: UnsafeRawBufferPointer(rebasing: line[..<labelEnd]))
        else { return nil }
        let header = LogHeader(
            version: version,
            name: LogFileName(kind, number),
            log: log,
            previousSize: previousSize,
            label: Array(line[labelStart..<labelEnd])
        )
        return (header, cursor.offset)
    }
}

let newline = UInt8(ascii: "\n")

/// Reads the parts of a mark one after another.
struct MarkCursor {
    let line: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ line: UnsafeRawBufferPointer) {
        self.line = line
    }

    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard line.count - offset >= count, let base = line.baseAddress,
            memcmp(base + offset, text.utf8Start, count) == 0
        else { return false }
        offset += count
        return true
    }

    mutating func skip(text: String) -> Bool {
        guard line.has(text, at: offset) else { return false }
        offset += text.utf8.count
        return true
    }

    /// Moves to the next byte of this value, and returns its offset; `nil` if there is none.
    mutating func skipTo(_ byte: UInt8) -> Int? {
        guard offset < line.count, let base = line.baseAddress,
            let found = memchr(base + offset, Int32(byte), line.count - offset)
        else { return nil }
        let position = UnsafeRawPointer(found) - base
        offset = position + 1
        return position
    }

    /// Moves to the next occurrence of a text, and returns its offset; `nil` if there is none.
    mutating func skipTo(_ text: StaticString) -> Int? {
        let start = offset
        while offset < line.count {
            let position = offset
            if skip(text) {
                offset = position
                return position
            }
            offset += 1
        }
        offset = start
        return nil
    }

    /// Whether the line ends before the text does.
    func isCutOff(in text: String) -> Bool {
        text.utf8.starts(with: line[offset...])
    }

    /// Whether the next text differs from this one in a single byte, which is damage rather than another
    /// format.
    func differsByOneByte(from text: [UInt8]) -> Bool {
        let found = line[offset...].prefix(text.count)
        return found.count == text.count && zip(found, text).filter { $0 != $1 }.count <= 1
    }

    /// Reads a number in the log's form, without sign and leading zeros.
    mutating func number() -> UInt64? {
        let start = offset
        guard let value = digits(base: 10, most: .max) else { return nil }
        return offset == start + 1 || line[start] != UInt8(ascii: "0") ? value : nil
    }

    mutating func hexadecimal() -> UInt64? {
        let start = offset
        guard let value = digits(base: 16, most: 16) else { return nil }
        return offset == start + 16 ? value : nil
    }

    /// Reads one or more digits; `nil` if there are none, or if the number is too large.
    private mutating func digits(base: UInt64, most: Int) -> UInt64? {
        let start = offset
        var value: UInt64 = 0
        while offset < line.count, offset - start < most, let digit = Self.digit(line[offset]), digit < base {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: base)
            let (sum, isSumTooLarge) = product.addingReportingOverflow(digit)
            if isTooLarge || isSumTooLarge { return nil }
            value = sum
            offset += 1
        }
        return offset > start ? value : nil
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { return UInt64(byte - UInt8(ascii: "0")) }
        if byte >= UInt8(ascii: "a"), byte <= UInt8(ascii: "f") {
            return UInt64(byte - UInt8(ascii: "a") + 10)
        }
        return nil
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a text is at an offset.
    fileprivate func has(_ text: String, at offset: Int) -> Bool {
        guard count - offset >= text.utf8.count, let base = baseAddress else { return false }
        return text.withCString { memcmp(base + offset, $0, text.utf8.count) == 0 }
    }
}
