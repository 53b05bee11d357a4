import RecordCoding

import struct Foundation.Date

/// Reading the parts of journal entries; unknown members from a later minor version are skipped.
extension JSONReader {
    mutating func flag(_ entry: JournalEntry) throws -> JournalEntry {
        try skipValue()
        return entry
    }

    mutating func array<Value>(of value: (inout JSONReader) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        try beginArray()
        while try nextElement() { values.append(try value(&self)) }
        return values
    }

    /// Reads an array of arrays, each a row; elements that a later version has added to a row are skipped.
    mutating func rows<Row>(_ row: (inout JSONReader) throws -> Row) throws -> [Row] {
        try array { json in
            try json.beginArray()
            let row = try row(&json)
            while try json.nextElement() { try json.skipValue() }
            return row
        }
    }

    mutating func strings() throws -> [String] { try array { try $0.string() } }

    mutating func element<Value>(_ value: (inout JSONReader) throws -> Value) throws -> Value {
        guard try nextElement() else { throw JournalLineError.malformed("a row is too short") }
        return try value(&self)
    }

    mutating func handle() throws -> ContentHandle {
        let number = try uint()
        guard number < ContentHandle.limit else { throw JournalLineError.malformed("a handle is too large") }
        return ContentHandle(number)
    }

    /// The upper bound of counters, which no real counter reaches; higher ones are neither read nor written.
    static var counterLimit: UInt64 { 1 << 61 }

    /// Reads a number that increases by one at a time.
    mutating func counter() throws -> UInt64 {
        let number = try uint()
        guard number < Self.counterLimit else { throw JournalLineError.malformed("a count is too large") }
        return number
    }

    mutating func optionalHandle() throws -> ContentHandle? { try isNull() ? nil : try handle() }

    mutating func date() throws -> Date { Date(milliseconds: RecordJSON.nearestStorable(try int())) }

    /// Reads the members of an object; a repeated key is an error, since either value could be meant.
    mutating func members(_ body: (inout JSONReader, String) throws -> Void) throws {
        var keys: [String] = []
        try beginObject()
        while let key = try nextKey() {
            guard !keys.contains(key) else {
                throw JSONError(offset: offset, reason: "the key \(key.quoted) is there twice")
            }
            // No version writes this many members, and each is compared with all earlier ones.
            guard keys.count < 100 else {
                throw JSONError(offset: offset, reason: "an object has more than 100 members")
            }
            keys.append(key)
            try body(&self, key)
        }
    }

    /// Reads an optional member: a malformed one is skipped and reported as a problem.
    ///
    /// A member that only a newer version can have written is still an error.
    mutating func unlessMalformed<Value>(
        _ name: String,
        _ problems: inout [String],
        _ read: (inout JSONReader) throws -> Value
    ) throws -> Value? {
        var attempt = self
        do {
            let value = try read(&attempt)
            self = attempt
            return value
        } catch let error as JournalLineError {
            if case .unknownKind = error { throw error }
            problems.append("\(name) cannot be read, \(error)")
        } catch {
            problems.append("\(name) cannot be read, \(error)")
        }
        try skipValue()
        return nil
    }

    mutating func lossReason() throws -> DatabaseChanges.Deletion.Reason? {
        let text = try string()
        if text == "unknown" { return nil }
        guard let reason = DatabaseChanges.Deletion.Reason(rawValue: text) else {
            throw JournalLineError.unknownKind(text)
        }
        return reason
    }

    mutating func isUploadedAgain() throws -> Bool {
        switch try string() {
        case "uploadAgain": return true
        case "removeLocal": return false
        case let other: throw JournalLineError.unknownKind(other)
        }
    }

    mutating func zoneStage() throws -> ZoneStage {
        let text = try string()
        guard let stage = ZoneStage(rawValue: text) else { throw JournalLineError.unknownKind(text) }
        return stage
    }

    mutating func change() throws -> LocalChange { try changeAndCopy().change }

    /// Reads a change, what the app has after it, and the version that its model carried.
    mutating func changeAndCopy() throws -> (
        change: LocalChange, copy: ContentHandle?, given: ContentHandle?
    ) {
        var copy: ContentHandle?
        var given: ContentHandle?
        var handle: ContentHandle?
        var size: Int64 = 0
        var isDeletion = false
        var change = LocalChange(kind: .delete, edited: nil, base: nil)
        try members { json, key in
            switch key {
            case "save": handle = try json.handle()
            case "size": size = try json.int()
            case "delete": isDeletion = try json.bool()
            case "edited": change.edited = try json.date()
            case "base": change.base = try json.handle()
            case "contested": change.contested = try json.handle()
            case "copy": copy = try json.handle()
            case "given": given = try json.handle()
            case "parked": change.parked = try json.reason()
            default: try json.skipValue()
            }
        }
        if let handle {
            change.kind = .save(handle, size: Int(clamping: size))
        } else if !isDeletion {
            throw JournalLineError.malformed("a change is neither a save nor a deletion")
        }
        return (change, copy, given)
    }

    mutating func acceptedKind() throws -> AcceptedChange.Kind {
        let text = try string()
        guard let kind = AcceptedChange.Kind(rawValue: text) else { throw JournalLineError.unknownKind(text) }
        return kind
    }

    mutating func reason() throws -> ParkReason {
        var reason = ParkReason(kind: .unknownError, message: "")
        try members { json, key in
            switch key {
            case "kind": reason.kind = ParkReason.Kind(rawValue: try json.string()) ?? .unknownError
            case "message": reason.message = try json.string()
            case "attempts": reason.attempts = Int(clamping: try json.int())
            default: try json.skipValue()
            }
        }
        return reason
    }

    mutating func version() throws -> (version: KnownVersion, sent: ContentHandle?) {
        var sent: ContentHandle?
        var handle: ContentHandle?
        var version = KnownVersion(changeTag: "", handle: ContentHandle(0), hash: 0, modified: nil)
        try members { json, key in
            switch key {
            case "sent": sent = try json.handle()
            case "tag": version.changeTag = try json.string()
            case "handle": handle = try json.handle()
            case "hash": version.hash = try json.uint()
            case "modified": version.modified = try json.date()
            case "size": version.size = Int(clamping: try json.int())
            default: try json.skipValue()
            }
        }
        guard let handle else { throw JournalLineError.malformed("a version has no handle") }
        version.handle = handle
        return (version, sent)
    }

    mutating func resolved(_ name: String) throws -> JournalEntry {
        var client: ContentHandle?
        var server: ContentHandle?
        var handle: ContentHandle?
        var outcome = ""
        var size: Int64 = 0
        var edited: Date?
        var reason: ParkReason?
        try members { json, key in
            switch key {
            case "client": client = try json.handle()
            case "server": server = try json.handle()
            case "outcome": outcome = try json.string()
            case "handle": handle = try json.handle()
            case "size": size = try json.int()
            case "edited": edited = try json.date()
            case "reason": reason = try json.reason()
            default: try json.skipValue()
            }
        }
        let resolution: Resolution
        switch (outcome, handle, reason) {
        case ("confirmed", let handle?, _): resolution = .confirmed(handle)
        case ("client", _, _): resolution = .client
        case ("merged", let handle?, _):
            resolution = .merged(handle, size: Int(clamping: size), edited: edited)
        case ("redated", let handle?, _):
            resolution = .redated(handle, size: Int(clamping: size), edited: edited)
        case ("server", _, _): resolution = .server
        case ("failed", _, let reason?): resolution = .failed(reason)
        case ("confirmed", nil, _), ("merged", nil, _), ("failed", _, nil), ("", _, _):
            throw JournalLineError.malformed("a resolution is not complete")
        default: throw JournalLineError.unknownKind(outcome)
        }
        guard let client else { throw JournalLineError.malformed("a resolution has no client") }
        return .resolved(name: name, client: client, server: server, resolution)
    }

    mutating func page() throws -> JournalEntry {
        var token: ChangeToken?
        var isComplete = false
        try members { json, key in
            switch key {
            case "token": token = ChangeToken(try json.base64())
            case "complete": isComplete = try json.bool()
            default: try json.skipValue()
            }
        }
        guard let token else { throw JournalLineError.malformed("a page has no token") }
        return .page(token: token, isComplete: isComplete)
    }

    /// Reads a record's state from a snapshot: the pending change strictly, and everything else as far as it
    /// is readable.
    ///
    /// Parts that are left out are fetched again.
    mutating func record(_ problems: inout [String]) throws -> RecordState {
        var record = RecordState()
        var isKnownLost = false
        var isCopyLost = false
        try members { json, key in
            switch key {
            case "known":
                record.known = try json.unlessMalformed("known", &problems) { try $0.version().version }
                isKnownLost = record.known == nil
            case "given": record.given = try json.unlessMalformed("given", &problems) { try $0.handle() }
            case "copy":
                record.copy = try json.unlessMalformed("copy", &problems) { try $0.handle() }
                isCopyLost = record.copy == nil
            case "lost":
                record.lost = try json.unlessMalformed("lost", &problems) { try $0.version().version }
            case "lostRefused": record.isLostRefused = try json.bool()
            case "pending": record.pending = try json.change()
            case "sent": record.sent = try json.unlessMalformed("sent", &problems) { try $0.sent() } ?? []
            case "deletionSent": record.isDeletionSent = try json.bool()
            case "undelivered":
                record.undelivered = try json.unlessMalformed("undelivered", &problems) {
                    try $0.undelivered()
                }
            case "listing":
                record.listing = try json.unlessMalformed("listing", &problems) { try $0.counter() } ?? 0
            case "unread": record.isUnread = try json.bool()
            default: try json.skipValue()
            }
        }
        if isKnownLost { record.forgetKnownVersion() }
        if isCopyLost { record.give(nil, of: nil) }
        return record
    }

    private mutating func sent() throws -> [SentVersion] {
        try rows { json in
            let handle = try json.element { try $0.handle() }
            let base = try json.element { try $0.optionalHandle() }
            let isBehindDeletion = try json.element { try $0.bool() }
            return SentVersion(handle: handle, base: base, isBehindDeletion: isBehindDeletion)
        }
    }

    private mutating func undelivered() throws -> Undelivered {
        var handle: ContentHandle?
        var kind = ""
        var seen: ContentHandle?
        var order: UInt64 = 0
        try members { json, key in
            switch key {
            case "kind": kind = try json.string()
            case "handle": handle = try json.handle()
            case "seen": seen = try json.handle()
            case "order": order = try json.counter()
            default: try json.skipValue()
            }
        }
        switch (kind, handle) {
        case ("updated", let handle?): return Undelivered(kind: .updated(handle), seen: seen, order: order)
        case ("saved", let handle?): return Undelivered(kind: .saved(handle), seen: seen, order: order)
        case ("deleted", _): return Undelivered(kind: .deleted, seen: seen, order: order)
        case ("updated", nil), ("saved", nil), ("", _):
            throw JournalLineError.malformed("an undelivered change is not complete")
        default: throw JournalLineError.unknownKind(kind)
        }
    }

    mutating func note() throws -> SyncNote {
        var note = SyncNote(kind: .recovered, date: Date(milliseconds: 0), message: "")
        try members { json, key in
            switch key {
            case "kind": note.kind = SyncNote.Kind(rawValue: try json.string()) ?? .recovered
            case "date": note.date = try json.date()
            case "record": note.recordName = try json.string()
            case "message": note.message = try json.string()
            default: try json.skipValue()
            }
        }
        return note
    }
}
