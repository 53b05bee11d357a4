import RecordCoding

/// Reading the fact of each entry, room by room; `nil` if the fact belongs to another room, and then nothing
/// was read.
extension JournalLine {
    /// What a line is about, according to its first members.
    struct Subject {
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

    static func readFact(
        _ fact: String,
        of subject: Subject,
        _ json: inout JSONReader,
        _ problems: inout [String]
    ) throws -> JournalEntry? {
        if let entry = try readCalls(fact, of: subject, &json) { return .calls(entry) }
        if let entry = try readFetching(fact, of: subject, &json) { return .fetching(entry) }
        if let entry = try readSnapshot(fact, of: subject, &json, &problems) { return .snapshot(entry) }
        if let entry = try readSending(fact, of: subject, &json) { return .sending(entry) }
        if let entry = try readDelivering(fact, &json) { return .delivering(entry) }
        if let entry = try readZones(fact, of: subject, &json) { return .zones(entry) }
        if let entry = try readAccount(fact, &json) { return .account(entry) }
        switch fact {
        case "resolved": return .resolving(try json.resolved(try subject.requireKey()))
        case "serverWait": return .serverWait(until: try json.isNull() ? nil : try json.date())
        case "note": return .note(try json.note())
        default: return nil
        }
    }

    private static func readAccount(_ fact: String, _ json: inout JSONReader) throws -> AccountEntry? {
        switch fact {
        case "made": return .made(for: try json.identity())
        case "claimed": return .claimed(by: try json.string())
        case "signedOut": return .signedOut(removing: try json.signOut() == .removed)
        default: return nil
        }
    }

    private static func readZones(
        _ fact: String,
        of subject: Subject,
        _ json: inout JSONReader
    ) throws -> ZoneEntry? {
        switch fact {
        case "zoneRegistered":
            return .registered(try subject.requireZone(), try json.zoneID())
        case "zoneReady": return try json.flag(.ready(try subject.requireZone()))
        case "zoneLost": return .lost(try subject.requireZone(), try json.lossReason())
        case "purgeResolved": return .purgeResolved(uploadAgain: try json.isUploadedAgain())
        case "databaseToken":
            return .databaseToken(try json.isNull() ? nil : ChangeToken(try json.base64()))
        case "subscribed": return try json.flag(.subscribed(try subject.requireZone()))
        default: return nil
        }
    }

    private static func readFetching(
        _ fact: String,
        of subject: Subject,
        _ json: inout JSONReader
    ) throws -> FetchEntry? {
        switch fact {
        case "fetched":
            let members = try json.version()
            guard let type = members.type else {
                throw JournalLineError.malformed("a version has no record type")
            }
            return .fetched(try subject.requireKey(), type: type, members.version)
        case "deletionFetched": return try json.flag(.deletionFetched(try subject.requireKey()))
        case "lookUpNeeded": return .lookUpNeeded(try subject.requireZone(), try json.names())
        case "listed": return .listed(try subject.requireZone(), try json.names())
        case "page": return try json.page(of: try subject.requireZone())
        case "listingBegan": return try json.flag(.listingBegan(try subject.requireZone()))
        case "fetchCompleted": return .completed(try json.date())
        case "readable":
            try json.beginArray()
            let schema = try json.readableSchema()
            while try json.nextElement() { try json.skipValue() }
            return .readable(schema)
        default: return nil
        }
    }

    private static func readSending(
        _ fact: String,
        of subject: Subject,
        _ json: inout JSONReader
    ) throws -> SendEntry? {
        switch fact {
        case "sending":
            return .began(
                try json.rows { json in
                    SentContents(
                        key: try json.keyElements(),
                        handle: try json.element { try $0.optionalHandle() }
                    )
                }
            )
        case "saved":
            let members = try json.version()
            guard let sent = members.sent else { throw JournalLineError.malformed("saved.sent") }
            return .saved(try subject.requireKey(), type: members.type, sent: sent, members.version)
        case "deletionConfirmed": return try json.flag(.deletionConfirmed(try subject.requireKey()))
        case "parked": return .parked(try subject.requireKey(), try json.reason())
        default: return nil
        }
    }

    private static func readDelivering(_ fact: String, _ json: inout JSONReader) throws -> DeliveryEntry? {
        switch fact {
        case "accepted":
            return .accepted(
                try json.rows { json in
                    let key = try json.keyElements()
                    let order = try json.element { try $0.uint() }
                    return AcceptedChange(key: key, order: order)
                }
            )
        case "handedOut": return .handedOut(try json.orders())
        case "followed": return try json.flag(.followed)
        case "startedOver": return try json.flag(.startedOver)
        case "replayed": return try json.flag(.replayed)
        case "suspected": return .suspected(try json.keys())
        case "showing": return try json.showing()
        default: return nil
        }
    }

    private static func readCalls(
        _ fact: String,
        of subject: Subject,
        _ json: inout JSONReader
    ) throws -> CallEntry? {
        switch fact {
        case "queued":
            let members = try json.changeMembers()
            return .queued(try subject.requireKey(), type: try members.requireType(), members.change)
        case "edited":
            let members = try json.changeMembers()
            return .edited(try subject.requireKey(), type: try members.requireType(), members.change)
        case "initialModelsQueued": return .initialModelsQueued(try json.initialModels())
        case "retried": return try json.flag(.retried(try subject.requireKey()))
        case "discarded": return try json.flag(.discarded(try subject.requireKey()))
        default: return nil
        }
    }

    private static func readSnapshot(
        _ fact: String,
        of subject: Subject,
        _ json: inout JSONReader,
        _ problems: inout [String]
    ) throws -> SnapshotEntry? {
        switch fact {
        case "summary": return .summary(try json.summary(&problems))
        case "zoneState": return .zone(try subject.requireZone(), try json.zoneState(&problems))
        case "record":
            let (type, record) = try json.record(&problems)
            return .record(try subject.requireKey(), type: type, record)
        default: return nil
        }
    }
}
