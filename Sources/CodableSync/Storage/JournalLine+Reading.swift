import RecordCoding

import struct Foundation.Data
import struct Foundation.Date

/// Why a line with a valid checksum cannot be interpreted.
enum JournalLineError: Error, Equatable {
    /// The line is of a kind that only a newer version writes.
    case unknownKind(String)
    case malformed(String)

    static let damagedContents = malformed("the checksum of the contents does not hold")
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
    /// A parsed line.
    struct Parsed {
        var row: StateRow
        /// Where the snapshot has the contents that the row names.
        var places: [Place] = []
        /// The highest handle in use before the line; 0 if the line does not say.
        var lastHandle: UInt64 = 0
        /// Messages about parts of the line that had to be left out because they cannot be read.
        var problems: [String] = []
    }

    /// Reads a line with a row.
    ///
    /// Unknown members are skipped if the line has a known row.
    ///
    /// - Throws: ``JournalLineError``, or `JSONError`.
    static func parse(_ bytes: [UInt8]) throws -> Parsed {
        var json = JSONReader(bytes)
        var head = Head()
        var row: StateRow?
        var unknown: String?
        var parsed = (places: [Place](), lastHandle: UInt64(0), problems: [String]())
        try json.members { json, key in
            switch key {
            case "zone": head.zone = try json.zoneNumber()
            case "name": head.name = ExactName(try json.string())
            case "places": parsed.places = try json.rows { try $0.place() }
            case "lastHandle":
                parsed.lastHandle =
                    try json.unlessMalformed(key, &parsed.problems) { try $0.counter() } ?? 0
            default:
                guard let found = try readRow(key, of: head, &json, &parsed.problems) else {
                    unknown = unknown ?? key
                    return try json.skipValue()
                }
                guard row == nil else { throw JournalLineError.malformed("the line has two rows") }
                row = found
            }
        }
        try json.end()
        if let row {
            return Parsed(
                row: row,
                places: parsed.places,
                lastHandle: parsed.lastHandle,
                problems: parsed.problems
            )
        }
        throw unknown.map { .unknownKind($0) } ?? JournalLineError.malformed("the line has no row")
    }

}

extension JSONReader {
    /// Reads the elements of a row with a handle, an offset and a length.
    fileprivate mutating func place() throws -> JournalLine.Place {
        let handle = try element { try $0.handle() }
        let offset = try element { try $0.counter() }
        guard let length = UInt32(exactly: try element { try $0.uint() }), length <= LogMarks.maximumLine
        else {
            throw JournalLineError.malformed("a place is too long")
        }
        return JournalLine.Place(handle: handle, offset: offset, length: length)
    }
}

/// Reading rows.
extension JournalLine {
    /// What a line is about, according to its first members.
    struct Head {
        var zone: ZoneNumber?
        var name: ExactName?

        func requireZone() throws(JournalLineError) -> ZoneNumber {
            guard let zone else { throw .malformed("the line has no zone") }
            return zone
        }

        func requireKey() throws(JournalLineError) -> RecordKey {
            guard let name else { throw .malformed("the line has no name") }
            return RecordKey(zone: try requireZone(), name: name)
        }
    }

    /// Reads a row; `nil` if it is of another kind, and then nothing was read.
    private static func readRow(
        _ kind: String,
        of head: Head,
        _ json: inout JSONReader,
        _ problems: inout [String]
    ) throws -> StateRow? {
        switch kind {
        case "summary": return .summary(try json.summary(&problems))
        case "streams": return .streams(try json.streams())
        case "zoneState": return .zone(try head.requireZone(), try json.zoneState(&problems))
        case "record":
            let key = try head.requireKey()
            if try json.isNull() { return .record(key, type: nil, nil) }
            let (type, record) = try json.record(&problems)
            return .record(key, type: type, record)
        case "note": return .note(try json.note())
        default: return nil
        }
    }
}
