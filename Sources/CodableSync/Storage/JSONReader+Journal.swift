import RecordCoding

import struct Foundation.Date

/// The parts of the journal's entries; unknown members of a later minor version are passed over.
extension JSONReader {
    mutating func flag(_ entry: JournalEntry) throws -> JournalEntry {
        try skipValue()
        return entry
    }

    /// Reads an array of arrays, each a row.
    mutating func rows<Row>(_ row: (inout JSONReader) throws -> Row) throws -> [Row] {
        var rows: [Row] = []
        try beginArray()
        while try nextElement() {
            try beginArray()
            rows.append(try row(&self))
            while try nextElement() { try skipValue() }
        }
        return rows
    }

    mutating func strings() throws -> [String] {
        var strings: [String] = []
        try beginArray()
        while try nextElement() { strings.append(try string()) }
        return strings
    }

    mutating func element<Value>(_ value: (inout JSONReader) throws -> Value) throws -> Value {
        guard try nextElement() else { throw JournalLineError.malformed("a row is too short") }
        return try value(&self)
    }

    mutating func handle() throws -> ContentHandle {
        let number = try uint()
        // The next number must exist, too.
        guard number < UInt64.max else { throw JournalLineError.malformed("a handle is too large") }
        return ContentHandle(number)
    }

    mutating func optionalHandle() throws -> ContentHandle? { try isNull() ? nil : try handle() }

    mutating func date() throws -> Date { Date(milliseconds: try int()) }

    private mutating func members(_ body: (inout JSONReader, String) throws -> Void) throws {
        try beginObject()
        while let key = try nextKey() { try body(&self, key) }
    }

    mutating func change() throws -> LocalChange {
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
            case "parked": change.parked = try json.reason()
            default: try json.skipValue()
            }
        }
        if let handle {
            change.kind = .save(handle, size: Int(clamping: size))
        } else if !isDeletion {
            throw JournalLineError.malformed("a change is neither a save nor a deletion")
        }
        return change
    }

    mutating func reason() throws -> ParkReason {
        var reason = ParkReason(kind: .unknownError, message: "")
        try members { json, key in
            switch key {
            case "kind": reason.kind = ParkReason.Kind(rawValue: try json.string()) ?? .unknownError
            case "message": reason.message = try json.string()
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
        case ("server", _, _): resolution = .server
        case ("failed", _, let reason?): resolution = .failed(reason)
        default: throw JournalLineError.malformed("a resolution says \(outcome)")
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

    mutating func record() throws -> RecordState {
        var record = RecordState()
        try members { json, key in
            switch key {
            case "known": record.known = try json.version().version
            case "seen": record.seen = try json.handle()
            case "pending": record.pending = try json.change()
            case "sent":
                record.sent = try json.rows { json in
                    let handle = try json.element { try $0.handle() }
                    return SentVersion(handle: handle, base: try json.element { try $0.optionalHandle() })
                }
            case "deletionSent": record.isDeletionSent = try json.bool()
            case "undelivered": record.undelivered = try json.undelivered()
            case "listing": record.listing = try json.uint()
            case "unread": record.isUnread = try json.bool()
            default: try json.skipValue()
            }
        }
        return record
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
            case "order": order = try json.uint()
            default: try json.skipValue()
            }
        }
        switch (kind, handle) {
        case ("updated", let handle?): return Undelivered(kind: .updated(handle), seen: seen, order: order)
        case ("saved", let handle?): return Undelivered(kind: .saved(handle), seen: seen, order: order)
        case ("deleted", _): return Undelivered(kind: .deleted, seen: seen, order: order)
        default: throw JournalLineError.malformed("an undelivered change says \(kind)")
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

    mutating func signOut() throws -> SignOut {
        let text = try string()
        guard let signOut = SignOut(rawValue: text) else {
            throw JournalLineError.malformed("a sign-out says \(text)")
        }
        return signOut
    }

    mutating func identity() throws -> StateIdentity {
        var identity = StateIdentity(cloud: "", scope: "", container: nil, zone: "", recordType: "")
        try members { json, key in
            switch key {
            case "cloud": identity.cloud = try json.string()
            case "scope": identity.scope = try json.string()
            case "container": identity.container = try json.string()
            case "zone": identity.zone = try json.string()
            case "recordType": identity.recordType = try json.string()
            default: try json.skipValue()
            }
        }
        return identity
    }

    mutating func summary() throws -> StateSummary {
        var summary = StateSummary()
        try members { json, key in
            switch key {
            case "zoneToken": summary.zoneToken = ChangeToken(try json.base64())
            case "databaseToken": summary.databaseToken = ChangeToken(try json.base64())
            case "zone": summary.zone = ZoneStage(rawValue: try json.string()) ?? .unknown
            case "subscribed": summary.isSubscribed = try json.bool()
            case "listing": summary.listing = try json.uint()
            case "isListing": summary.isListing = try json.bool()
            case "serverWait": summary.serverWait = try json.date()
            case "lastFetch": summary.lastFetch = try json.date()
            case "deliveryOrder": summary.deliveryOrder = try json.uint()
            case "initialModels": summary.hasInitialModels = try json.bool()
            case "identity": summary.identity = try json.identity()
            case "user": summary.user = try json.string()
            case "signOut": summary.signOut = try json.signOut()
            case "holdsRemoved": summary.holdsRemoved = try json.bool()
            default: try json.skipValue()
            }
        }
        return summary
    }
}
