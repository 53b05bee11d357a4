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
        var (known, lost): (KnownVersion?, KnownVersion?)
        var (isKnownUnreadable, isRefused) = (false, false)
        try members { json, key in
            switch key {
            case "type": type = ExactName(try json.string())
            case "known":
                known = try json.unlessMalformed("known", &problems) { try $0.version() }
                isKnownUnreadable = known == nil
            case "carried":
                record.carried =
                    try json.unlessMalformed("carried", &problems) { try $0.carried() } ?? CarriedTags()
            case "lost":
                lost = try json.unlessMalformed("lost", &problems) { try $0.version() }
            case "kept":
                record.kept = try json.unlessMalformed("kept", &problems) { json in
                    KeptVersion.version(try json.version())
                }
            case "lostRefused": isRefused = try json.bool()
            case "pending": record.pending = try json.change()
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
        if let known {
            record.server = .known(known)
        } else if let lost {
            record.server = .lost(lost, isRefused: isRefused)
        }
        if isKnownUnreadable { record.forgetLatestVersion() }
        return (type, record)
    }

    private mutating func carried() throws -> CarriedTags {
        var carried = CarriedTags()
        try members { json, key in
            switch key {
            case "tags":
                carried.tags = try json.rows { json in
                    let tag = try json.element { try $0.string() }
                    return CarriedTags.Tag(tag, try json.element { try $0.optionalHandle() })
                }
            case "ownBase": carried.ownBase = try json.handle()
            case "doubt": carried.doubt = try json.handle()
            default: try json.skipValue()
            }
        }
        return carried
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
        var former: ContentHandle?
        var order: UInt64 = 0
        try members { json, key in
            switch key {
            case "kind": kind = try json.string()
            case "handle": handle = try json.handle()
            case "former": former = try json.handle()
            case "order": order = try json.counter()
            default: try json.skipValue()
            }
        }
        switch (kind, handle) {
        case ("updated", let handle?): return Undelivered(kind: .updated(handle), order: order)
        case ("saved", let handle?): return Undelivered(kind: .saved(handle), order: order)
        case ("deleted", _): return Undelivered(kind: .deleted, former: former, order: order)
        case ("updated", nil), ("saved", nil), ("", _):
            throw JournalLineError.malformed("an undelivered change is not complete")
        default: throw JournalLineError.unknownKind(kind)
        }
    }
}
