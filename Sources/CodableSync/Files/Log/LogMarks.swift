/// The lines that a log writes for itself.
///
/// Each has one form, read back byte by byte: anything else is damage.
enum LogMarks {
    /// What a header says.
    struct Header: Hashable {
        var version: UInt64
        /// The size of the journal before this one when this one was begun.
        var previousSize: UInt64?
    }

    /// What closes a group, or a whole snapshot.
    struct Commit: Hashable {
        var count: Int
        var checksum: UInt64
        /// Whether it closes the file: then `count` is that of all its lines.
        var isEnd: Bool
    }

    /// A line is at most this long; a longer one is damage, not a reason to fill the memory.
    static let maximumLine = 64 << 20

    private static let commitStart = Array(#"{"commit":"#.utf8)
    private static let endStart = Array(#"{"end":"#.utf8)
    private static let checksumStart = Array(#","checksum":""#.utf8)
    private static let close = Array(#""}"#.utf8)

    static func header(format: String, version: UInt64, kind: LogFileName.Kind, previousSize: UInt64?)
        -> [UInt8]
    {
        let previous = previousSize.map { #","previousSize":\#($0)"# } ?? ""
        return Array(
            #"{"format":"\#(format)","version":\#(version),"kind":"\#(kind.rawValue)"\#(previous)}"#.utf8
        ) + [newline]
    }

    static func commit(_ mark: Commit) -> [UInt8] {
        let digits = String(mark.checksum, radix: 16)
        let padded = String(repeating: "0", count: 16 - digits.count) + digits
        return (mark.isEnd ? endStart : commitStart) + Array(String(mark.count).utf8)
            + checksumStart + Array(padded.utf8) + close + [newline]
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

    /// What stands where a header should.
    enum HeaderReading {
        case header(Header, length: Int)
        /// A version is named, and what follows is in no form that is known here.
        case version(UInt64)
        case otherFormat
        case none
    }

    /// Reads a header at the beginning of a line.
    static func readHeader(
        _ line: UnsafeRawBufferPointer,
        format: String,
        kind: LogFileName.Kind
    ) -> HeaderReading {
        var cursor = MarkCursor(line)
        guard cursor.skip(Array(#"{"format":""#.utf8)) else { return .none }
        guard cursor.skip(Array((format + "\"").utf8)) else {
            let isDamaged = cursor.isCutOff(in: format) || cursor.differsByOneByte(from: Array(format.utf8))
            return isDamaged ? .none : .otherFormat
        }
        guard cursor.skip(Array(#","version":"#.utf8)), let version = cursor.number(), version > 0
        else { return .none }
        guard cursor.skip(Array(#","kind":"\#(kind.rawValue)""#.utf8)) else {
            return .version(version)
        }
        var previousSize: UInt64?
        if cursor.skip(Array(#","previousSize":"#.utf8)) {
            guard let size = cursor.number() else { return .version(version) }
            previousSize = size
        }
        guard cursor.skip([UInt8(ascii: "}")]) else { return .version(version) }
        return .header(Header(version: version, previousSize: previousSize), length: cursor.offset)
    }
}

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
