/// The lines that a log writes for itself.
///
/// Each has one form, read back byte by byte: anything else is damage.
enum LogMarks {
    /// What closes a group, or a whole snapshot.
    struct Commit: Hashable {
        var count: Int
        var checksum: UInt64
        /// Whether it closes the file: then `count` is that of all its lines.
        var isEnd: Bool
    }

    /// A line is at most this long; a longer one is damage, not a reason to fill the memory.
    static let maximumLine = 64 << 20
    /// The maximum size of a file; the log writes none that is longer, and reading one would take hours.
    static let maximumFile: UInt64 = 64 << 30

    private static let commitStart = Array(#"{"commit":"#.utf8)
    private static let endStart = Array(#"{"end":"#.utf8)
    private static let checksumStart = Array(#","checksum":""#.utf8)
    private static let close = Array(#""}"#.utf8)

    static func header(_ header: LogHeader, format: String) -> [UInt8] {
        let previous = header.previousSize.map { #","previousSize":\#($0)"# } ?? ""
        let beginning =
            #"{"format":"\#(format)","version":\#(header.version),"kind":"\#(header.name.kind.rawValue)","#
            + #""number":\#(header.name.number),"log":"\#(hexadecimal(header.log))"\#(previous),"of":"#
        let line = Array(beginning.utf8) + header.label
        return line + checksumStart + Array(hexadecimal(checksum(of: line)).utf8) + close + [newline]
    }

    /// A header is not part of any group, and has a checksum of its own.
    private static func checksum(of bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { checksum(of: $0) }
    }

    private static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var checksum = LineChecksum()
        checksum.absorb(bytes)
        return checksum.value(count: 1)
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func commit(_ mark: Commit) -> [UInt8] {
        (mark.isEnd ? endStart : commitStart) + Array(String(mark.count).utf8)
            + checksumStart + Array(hexadecimal(mark.checksum).utf8) + close + [newline]
    }

    /// Whether a line begins as only the log's own marks may.
    static func isReserved(_ line: UnsafeRawBufferPointer) -> Bool {
        starts(line, with: commitStart) || starts(line, with: endStart)
    }

    private static func starts(_ line: UnsafeRawBufferPointer, with prefix: [UInt8]) -> Bool {
        line.count >= prefix.count && line[2] == prefix[2] && line.starts(with: prefix)
    }

    /// Reads a commit mark at the beginning of a line; `length` is where it ends.
    static func readCommit(_ line: UnsafeRawBufferPointer) -> (mark: Commit, length: Int)? {
        guard isReserved(line) else { return nil }
        var cursor = MarkCursor(line)
        let isEnd = !cursor.skip(commitStart)
        if isEnd, !cursor.skip(endStart) { return nil }
        guard let count = cursor.number(), let count = Int(exactly: count), cursor.skip(checksumStart),
            let checksum = cursor.hexadecimal(), cursor.skip(close)
        else { return nil }
        return (Commit(count: count, checksum: checksum, isEnd: isEnd), cursor.offset)
    }

    /// Reads a header at the beginning of a line; `nil` if it is damaged.
    ///
    /// - Returns: The header, and where it ends.
    /// - Throws: ``LogError`` for a file of another format, or of a version that is not supported.
    static func header(
        at line: UnsafeRawBufferPointer,
        of path: String,
        format: String,
        supported: UInt64
    ) throws(LogError) -> (header: LogHeader, length: Int)? {
        var cursor = MarkCursor(line)
        guard cursor.skip(Array(#"{"format":""#.utf8)) else { return nil }
        guard cursor.skip(Array((format + "\"").utf8)) else {
            if cursor.isCutOff(in: format) || cursor.differsByOneByte(from: Array(format.utf8)) { return nil }
            throw .otherFormat(path: path, expected: format)
        }
        guard cursor.skip(Array(#","version":"#.utf8)), let version = cursor.number(), version > 0
        else { return nil }
        // What follows may be in a form that is not known here.
        guard version <= supported else {
            throw .tooNew(path: path, found: version, supported: supported)
        }
        return rest(of: &cursor, in: line, version)
    }

    private static func rest(
        of cursor: inout MarkCursor,
        in line: UnsafeRawBufferPointer,
        _ version: UInt64
    ) -> (header: LogHeader, length: Int)? {
        guard cursor.skip(Array(#","kind":""#.utf8)) else { return nil }
        let kind: LogFileName.Kind = cursor.skip(Array("snapshot".utf8)) ? .snapshot : .journal
        guard kind == .snapshot || cursor.skip(Array("journal".utf8)),
            cursor.skip(Array(#"","number":"#.utf8)),
            let number = cursor.number().flatMap(UInt32.init(exactly:)), LogFileName.isNumber(number),
            cursor.skip(Array(#","log":""#.utf8)), let log = cursor.hexadecimal(), cursor.skip([quote])
        else { return nil }
        var previousSize: UInt64?
        if cursor.skip(Array(#","previousSize":"#.utf8)) {
            guard let size = cursor.number() else { return nil }
            previousSize = size
        }
        guard cursor.skip(Array(#","of":"#.utf8)) else { return nil }
        let labelStart = cursor.offset
        // The quotation mark in it stands in no JSON string, so that it ends the label.
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

private let quote = UInt8(ascii: "\"")

let newline = UInt8(ascii: "\n")

/// Reads the parts of a mark, one after the other.
private struct MarkCursor {
    private let line: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ line: UnsafeRawBufferPointer) {
        self.line = line
    }

    mutating func skip(_ text: [UInt8]) -> Bool {
        guard line[offset...].starts(with: text) else { return false }
        offset += text.count
        return true
    }

    /// Goes on to where the text begins; returns where that is, or `nil` if it does not follow.
    mutating func skipTo(_ text: [UInt8]) -> Int? {
        var position = offset
        while position + text.count <= line.count {
            if line[position] == text[0], line[position...].starts(with: text) {
                offset = position
                return position
            }
            position += 1
        }
        return nil
    }

    /// Whether the line ends before the text does.
    func isCutOff(in text: String) -> Bool {
        text.utf8.starts(with: line[offset...])
    }

    /// Whether a text of the same length follows that is another in one place: damage, not another's file.
    func differsByOneByte(from text: [UInt8]) -> Bool {
        let found = line[offset...].prefix(text.count)
        return found.count == text.count && zip(found, text).filter { $0 != $1 }.count <= 1
    }

    /// A number as the log writes it: no sign, no leading zero.
    mutating func number() -> UInt64? {
        let digits = line[offset...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
        guard let value = UInt64(String(decoding: digits, as: UTF8.self)) else { return nil }
        offset += digits.count
        return value
    }

    mutating func hexadecimal() -> UInt64? {
        let digits = line[offset...].prefix(16)
        let isPlain = digits.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        guard digits.count == 16, isPlain,
            let value = UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        offset += 16
        return value
    }
}
