import RecordCoding

import struct Foundation.Data
import struct Foundation.Date

/// Why a line with a valid checksum cannot be interpreted.
enum JournalLineError: Error, Equatable {
    /// The line is of a kind that only a newer version writes.
    case unknownKind(String)
    case malformed(String)
}

extension JournalLineError: CustomStringConvertible {
    var description: String {
        switch self {
        case .unknownKind(let kind): "the kind \(kind.quoted) is not known"
        case .malformed(let reason): reason
        }
    }
}

extension JournalLine {
    /// A parsed line, and the places of the contents that it introduces.
    struct Parsed {
        var line: StateLine
        var contents: [(ContentHandle, Range<Int>)] = []
        /// The highest handle in use before the line; 0 if the line does not say.
        var lastHandle: UInt64 = 0
        /// Messages about parts of the line that had to be left out because they cannot be read.
        var problems: [String] = []
    }

    /// Reads a line, and notes only the places of its contents.
    ///
    /// Unknown members are skipped if the line has a known row or fact.
    ///
    /// - Throws: ``JournalLineError``, or `JSONError`.
    static func parse(_ bytes: [UInt8]) throws -> Parsed {
        var json = JSONReader(bytes)
        var subject = Subject()
        var line: StateLine?
        var unknown: String?
        var parsed = (contents: [(ContentHandle, Range<Int>)](), lastHandle: UInt64(0), problems: [String]())
        try json.members { json, key in
            switch key {
            case "zone": subject.zone = try json.zoneNumber()
            case "name": subject.name = ExactName(try json.string())
            case "contents": parsed.contents = try readContents(&json)
            case "lastHandle":
                parsed.lastHandle =
                    try json.unlessMalformed(key, &parsed.problems) { try $0.counter() } ?? 0
            default:
                guard let found = try readLine(key, of: subject, &json, &parsed.problems) else {
                    unknown = unknown ?? key
                    return try json.skipValue()
                }
                guard line == nil else { throw JournalLineError.malformed("the line has two rows or facts") }
                line = found
            }
        }
        try json.end()
        if let line {
            return Parsed(
                line: line,
                contents: parsed.contents,
                lastHandle: parsed.lastHandle,
                problems: parsed.problems
            )
        }
        throw unknown.map { .unknownKind($0) } ?? JournalLineError.malformed("the line has no row or fact")
    }

    private static func readContents(_ json: inout JSONReader) throws -> [(ContentHandle, Range<Int>)] {
        try json.array { json in
            try json.beginArray()
            let handle = try json.element { try $0.handle() }
            var range = try json.element { try $0.rawValue() }
            var hasNames = false
            while try json.nextElement() {
                let end = try json.rawValue().upperBound
                if !hasNames { range = range.lowerBound..<end }
                hasNames = true
            }
            return (handle, range)
        }
    }
}
