import RecordCoding

import struct Foundation.Date

/// Reading the parts of rows; unknown members from a later minor version are skipped.
extension JSONReader {
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

    mutating func names() throws -> [ExactName] { try array { ExactName(try $0.string()) } }

    mutating func zoneNumber() throws -> ZoneNumber {
        let number = try uint()
        guard number > 0, number < UInt64(ZoneNumber.limit) else {
            throw JournalLineError.malformed("a zone's number is beyond its limits")
        }
        return ZoneNumber(UInt32(number))
    }

    /// Reads the zone and the name at the start of a row.
    mutating func keyElements() throws -> RecordKey {
        let zone = try element { try $0.zoneNumber() }
        return RecordKey(zone: zone, name: ExactName(try element { try $0.string() }))
    }

    mutating func element<Value>(_ value: (inout JSONReader) throws -> Value) throws -> Value {
        guard try nextElement() else { throw JournalLineError.malformed("a row is too short") }
        return try value(&self)
    }

    mutating func handle() throws -> ContentHandle {
        let number = try uint()
        guard number < ContentHandle.limit else { throw JournalLineError.malformed("a handle is too large") }
        return ContentHandle(number)
    }

    private mutating func sides() throws -> [EditBase.Side] {
        try array { json in
            var edit: ContentHandle?
            var ancestor: ContentHandle?
            var contested: ContentHandle?
            var isOwn = false
            try json.members { json, key in
                switch key {
                case "edit": edit = try json.handle()
                case "ancestor": ancestor = try json.handle()
                case "contested": contested = try json.handle()
                case "own": isOwn = try json.bool()
                default: try json.skipValue()
                }
            }
            guard let edit else { throw JournalLineError.malformed("a side of an edit has no contents") }
            return EditBase.Side(edit: edit, ancestor: ancestor, contested: contested, isOwn: isOwn)
        }
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

    mutating func change() throws -> LocalChange {
        var change = LocalChange(kind: .delete, edited: nil, base: nil)
        var handle: ContentHandle?
        var size: Int64 = 0
        var isDeletion = false
        var (base, contested, lost): (ContentHandle?, ContentHandle?, ContentHandle?) = (nil, nil, nil)
        var isLostAgain = false
        try members { json, key in
            switch key {
            case "save": handle = try json.handle()
            case "size": size = try json.int()
            case "delete": isDeletion = try json.bool()
            case "repeats": change.isRepetition = try json.bool()
            case "edited": change.edited = try json.date()
            case "hash": change.hash = try json.uint()
            case "base": base = try json.handle()
            case "contested": contested = try json.handle()
            case "lostBase": lost = try json.handle()
            case "lostBaseAgain": isLostAgain = try json.bool()
            case "sides": change.on.sides = try json.sides()
            case "earlier": change.earlier = try json.array { try $0.handle() }
            case "merged": change.on.isMerged = try json.bool()
            case "parked": change.parked = try json.reason()
            default: try json.skipValue()
            }
        }
        if let base {
            change.on.origin = .version(base, contested: contested)
        } else if let lost {
            change.on.origin = .lost(EditBase.Lost(lost, isUploadedAgain: isLostAgain))
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
            case "attempts": reason.attempts = Int(clamping: try json.int())
            default: try json.skipValue()
            }
        }
        return reason
    }

    mutating func version() throws -> KnownVersion {
        var handle: ContentHandle?
        var version = KnownVersion(changeTag: "", handle: ContentHandle(0), hash: 0, modified: nil)
        try members { json, key in
            switch key {
            case "tag": version.changeTag = try json.string()
            case "handle": handle = try json.handle()
            case "hash": version.hash = try json.uint()
            case "modified": version.modified = try json.date()
            case "size": version.size = Int(clamping: try json.int())
            case "schema": version.schema = SchemaVersion(try json.uint())
            default: try json.skipValue()
            }
        }
        guard let handle else { throw JournalLineError.malformed("a version has no handle") }
        version.handle = handle
        return version
    }

    /// Reads the elements of a row with a record type and the schema version that the app can read.
    mutating func readableSchema() throws -> ReadableSchema {
        let type = ExactName(try element { try $0.string() })
        let version = SchemaVersion(try element { try $0.uint() })
        return ReadableSchema(type: type, version: version, carriesTag: try element { try $0.bool() })
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
