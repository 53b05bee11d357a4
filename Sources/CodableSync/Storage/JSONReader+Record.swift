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
        var (isKnownUnreadable, isRefused, isDeleted, isUndecodable) = (false, false, false, false)
        var former: ContentHandle?
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
                record.kept = try json.unlessMalformed("kept", &problems) { try $0.version() }
            case "lostRefused": isRefused = try json.bool()
            case "pending": record.pending = try json.change()
            case "sent": record.sent = try json.unlessMalformed("sent", &problems) { try $0.sent() } ?? []
            case "deletionSent": record.isDeletionSent = try json.bool()
            case "creations":
                let found = try json.unlessMalformed(key, &problems) { try $0.creations() }
                record.late.creations = found ?? []
            case "creationsAfter": record.late.lastModified = try json.date()
            case "deletionOnItsWay":
                record.late.deletion = try json.unlessMalformed(key, &problems) { try $0.deletions() }?.last
            case "deleted": isDeleted = try json.bool()
            case "former": former = try json.handle()
            case "news", "saved":
                let number = try json.unlessMalformed(key, &problems) { try $0.counter() }
                record.news = number.map { RecordNews($0, isSaved: key == "saved") }
            case "undecodable": isUndecodable = try json.bool()
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
        } else if isDeleted {
            record.server = .deleted(former)
        }
        record.news?.isUndecodable = isUndecodable
        if record.late.creations.isEmpty { record.late.lastModified = nil }
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

    private mutating func creations() throws -> [SentCreation] {
        try rows { json in
            let handle = try json.element { try $0.handle() }
            let hash = try json.element { try $0.uint() }
            let edited = try json.element { try $0.date() }
            let isRepeated = try json.element { try $0.bool() }
            var creation = SentCreation(handle: handle, hash: hash, edited: edited, isRepeated: isRepeated)
            creation.isDeleted = try json.element { try $0.bool() }
            creation.isLost = try json.element { try $0.bool() }
            creation.isEdit = try json.element { try $0.bool() }
            return creation
        }
    }

    private mutating func deletions() throws -> [SentDeletion] {
        try rows { json in
            let date = try json.element { try $0.date() }
            let count = try json.element { try $0.uint() }
            return SentDeletion(date: date, count: Int(clamping: max(count, 1)))
        }
    }

    private mutating func sent() throws -> [SentVersion] {
        try rows { json in
            let handle = try json.element { try $0.handle() }
            let base = try json.element { try $0.optionalHandle() }
            let isBehindDeletion = try json.element { try $0.bool() }
            return SentVersion(handle: handle, base: base, isBehindDeletion: isBehindDeletion)
        }
    }
}
