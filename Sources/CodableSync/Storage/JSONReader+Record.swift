import RecordCoding

/// Reading a record's state from a snapshot.
extension JSONReader {
    /// Reads a record's state from a snapshot: the pending change strictly, and everything else as far as it
    /// is readable.
    ///
    /// The engine fetches skipped parts again.
    mutating func record(
        _ problems: inout [String]
    ) throws -> (type: ExactName?, record: RecordState) {
        var type: ExactName?
        var record = RecordState()
        var isKnownLost = false
        var isCopyLost = false
        try members { json, key in
            switch key {
            case "type": type = ExactName(try json.string())
            case "known":
                record.known = try json.unlessMalformed("known", &problems) { try $0.version().version }
                isKnownLost = record.known == nil
            case "given": record.given = try json.unlessMalformed("given", &problems) { try $0.handle() }
            case "copy":
                record.copy = try json.unlessMalformed("copy", &problems) { try $0.handle() }
                isCopyLost = record.copy == nil
            case "lost":
                record.lost = try json.unlessMalformed("lost", &problems) { try $0.version().version }
            case "kept":
                record.kept = try json.unlessMalformed("kept", &problems) { json in
                    KeptVersion.version(try json.version().version)
                }
            case "lostRefused": record.isLostRefused = try json.bool()
            case "pending": record.pending = try json.changeMembers().change
            case "sent": record.sent = try json.unlessMalformed("sent", &problems) { try $0.sent() } ?? []
            case "deletionSent": record.isDeletionSent = try json.bool()
            case "undelivered":
                record.undelivered = try json.unlessMalformed("undelivered", &problems) {
                    try $0.undelivered()
                }
            case "listing":
                record.listing = try json.unlessMalformed("listing", &problems) { try $0.counter() } ?? 0
            case "lookUpNeeded": record.mustLookUp = try json.bool()
            default: try json.skipValue()
            }
        }
        if isKnownLost { record.forgetLatestVersion() }
        if isCopyLost { record.give(nil, of: nil) }
        return (type, record)
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
}
