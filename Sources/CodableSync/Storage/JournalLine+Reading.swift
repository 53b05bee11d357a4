import RecordCoding

import struct Foundation.Data
import struct Foundation.Date

/// Why a line with a valid checksum cannot be interpreted.
enum JournalLineError: Error, Equatable {
    /// The line has a kind of entry that only a newer version writes.
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
    /// A parsed line: the entry, and the places of the contents that it introduces.
    struct Parsed {
        var entry: JournalEntry
        var contents: [(ContentHandle, Range<Int>)] = []
        /// The highest handle in use before the line; 0 if the line does not say.
        var lastHandle: UInt64 = 0
        /// Messages about parts of the entry that had to be left out because they cannot be read.
        var problems: [String] = []
    }

    /// Reads a line, and notes only the places of its contents.
    ///
    /// Unknown members are skipped if the line has a known entry.
    ///
    /// - Throws: ``JournalLineError``, or `JSONError`.
    static func parse(_ bytes: [UInt8]) throws -> Parsed {
        var json = JSONReader(bytes)
        var subject = Subject()
        var entry: JournalEntry?
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
                guard let fact = try readFact(key, of: subject, &json, &parsed.problems) else {
                    unknown = unknown ?? key
                    return try json.skipValue()
                }
                guard entry == nil else { throw JournalLineError.malformed("the line has two facts") }
                entry = fact
            }
        }
        try json.end()
        if let entry {
            return Parsed(
                entry: entry,
                contents: parsed.contents,
                lastHandle: parsed.lastHandle,
                problems: parsed.problems
            )
        }
        throw unknown.map { .unknownKind($0) } ?? JournalLineError.malformed("the line has no fact")
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
