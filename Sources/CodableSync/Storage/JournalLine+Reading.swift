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
        var name: String?
        var entry: JournalEntry?
        var unknown: String?
        var parsed = (contents: [(ContentHandle, Range<Int>)](), lastHandle: UInt64(0), problems: [String]())
        try json.members { json, key in
            switch key {
            case "name": name = try json.string()
            case "contents": parsed.contents = try readContents(&json)
            case "lastHandle":
                parsed.lastHandle =
                    try json.unlessMalformed(key, &parsed.problems) { try $0.counter() } ?? 0
            default:
                let fact =
                    try name.map { try readFact(key, of: $0, &json, &parsed.problems) }
                    ?? readFactOfAll(key, &json, &parsed.problems)
                guard let fact else {
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
        try json.rows { json in
            let handle = try json.element { try $0.handle() }
            return (handle, try json.element { try $0.rawValue() })
        }
    }

    /// Reads an entry about one record; `nil` if its kind is unknown, in which case nothing was read.
    private static func readFact(
        _ key: String,
        of name: String,
        _ json: inout JSONReader,
        _ problems: inout [String]
    ) throws -> JournalEntry? {
        switch key {
        case "queued": return .queued(name: name, try json.change())
        case "edited":
            let (change, copy, given) = try json.changeAndCopy()
            return .edited(name: name, change, copy: copy, given: given)
        case "saved":
            let members = try json.version()
            guard let sent = members.sent else { throw JournalLineError.malformed("saved.sent") }
            return .saved(name: name, sent: sent, members.version)
        case "fetched": return .fetched(name: name, try json.version().version)
        case "resolved": return try json.resolved(name)
        case "parked": return .parked(name: name, try json.reason())
        case "record": return .record(name: name, try json.record(&problems))
        case "deletionConfirmed": return try json.flag(.deletionConfirmed(name: name))
        case "fetchedDeletion": return try json.flag(.fetchedDeletion(name: name))
        case "retried": return try json.flag(.retried(name: name))
        case "discarded": return try json.flag(.discarded(name: name))
        default: return nil
        }
    }

    /// Reads an entry that is not about one record; `nil` if its kind is unknown, in which case nothing was
    /// read.
    private static func readFactOfAll(
        _ key: String,
        _ json: inout JSONReader,
        _ problems: inout [String]
    ) throws -> JournalEntry? {
        switch key {
        case "made": return .made(for: try json.identity())
        case "claimed": return .claimed(by: try json.string())
        case "signedOut": return .signedOut(removing: try json.signOut() == .removed)
        case "sending":
            return .sending(
                try json.rows { json in
                    let name = try json.element { try $0.string() }
                    return SentContents(name: name, handle: try json.element { try $0.optionalHandle() })
                }
            )
        case "unread": return .unread(try json.strings())
        case "listed": return .listed(try json.strings())
        case "page": return try json.page()
        case "accepted":
            return .accepted(
                try json.rows { json in
                    let name = try json.element { try $0.string() }
                    let order = try json.element { try $0.uint() }
                    let seen = try json.element { try $0.optionalHandle() }
                    let version = try json.element { try $0.optionalHandle() }
                    let kind = try json.element { try $0.acceptedKind() }
                    return AcceptedChange(name: name, order: order, seen: seen, of: version, kind: kind)
                }
            )
        case "handedOut": return .handedOut(try json.orders())
        case "zoneLost": return .zoneLost(try json.lossReason())
        case "purgeResolved": return .purgeResolved(uploadAgain: try json.isUploadedAgain())
        case "databaseToken":
            return .databaseToken(try json.isNull() ? nil : ChangeToken(try json.base64()))
        case "serverWait": return .serverWait(until: try json.isNull() ? nil : try json.date())
        case "fetchCompleted": return .fetchCompleted(try json.date())
        case "note": return .note(try json.note())
        case "summary": return .summary(try json.summary(&problems))
        case "listingBegan": return try json.flag(.listingBegan)
        case "initialModelsQueued": return try json.flag(.initialModelsQueued)
        case "zoneReady": return try json.flag(.zoneReady)
        case "subscribed": return try json.flag(.subscribed)
        default: return nil
        }
    }
}
