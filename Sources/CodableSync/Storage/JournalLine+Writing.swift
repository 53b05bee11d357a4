import RecordCoding

/// Writing the fact of each entry, room by room.
extension JournalLine {
    static func write(_ entry: JournalEntry, to json: inout JSONWriter) {
        switch entry {
        case .account(let entry): write(entry, to: &json)
        case .zones(let entry): write(entry, to: &json)
        case .fetching(let entry): write(entry, to: &json)
        case .sending(let entry): write(entry, to: &json)
        case .resolving(let entry): write(entry, to: &json)
        case .delivering(let entry): write(entry, to: &json)
        case .calls(let entry): write(entry, to: &json)
        case .serverWait(let until):
            json.key("serverWait")
            json.optionalDate(until)
        case .note(let note):
            json.key("note")
            json.note(note)
        case .snapshot(let entry): write(entry, to: &json)
        }
    }

    private static func write(_ entry: AccountEntry, to json: inout JSONWriter) {
        switch entry {
        case .made(let identity):
            json.key("made")
            json.identity(identity)
        case .claimed(let user): json.member("claimed", user)
        case .signedOut(let removing):
            json.member("signedOut", (removing ? SignOut.removed : .kept).rawValue)
        }
    }

    private static func write(_ entry: ZoneEntry, to json: inout JSONWriter) {
        switch entry {
        case .registered(let number, let zoneID):
            json.about(number, "zoneRegistered")
            json.beginObject()
            json.members(of: zoneID)
            json.endObject()
        case .ready(let number): json.flag(number, "zoneReady")
        case .lost(let number, let reason):
            json.about(number, "zoneLost")
            json.string(reason?.rawValue ?? "unknown")
        case .purgeResolved(let uploadAgain):
            json.member("purgeResolved", uploadAgain ? "uploadAgain" : "removeLocal")
        case .databaseToken(let token):
            json.key("databaseToken")
            json.token(token)
        case .subscribed(let number): json.flag(number, "subscribed")
        }
    }

    private static func write(_ entry: FetchEntry, to json: inout JSONWriter) {
        switch entry {
        case .fetched(let key, let type, let version):
            json.about(key, "fetched")
            json.beginObject()
            json.member("type", type.text)
            json.versionMembers(version)
            json.endObject()
        case .deletionFetched(let key): json.flag(key, "deletionFetched")
        case .lookUpNeeded(let zone, let names):
            json.about(zone, "lookUpNeeded")
            json.array(names) { $0.string($1.text) }
        case .listed(let zone, let names):
            json.about(zone, "listed")
            json.array(names) { $0.string($1.text) }
        case .page(let zone, let token, let isComplete):
            json.about(zone, "page")
            json.beginObject()
            json.key("token")
            json.base64(token.data)
            json.member("complete", isComplete)
            json.endObject()
        case .listingBegan(let zone): json.flag(zone, "listingBegan")
        case .completed(let date):
            json.key("fetchCompleted")
            json.date(date)
        case .readable(let schema):
            json.key("readable")
            json.readable(schema)
        }
    }

    private static func write(_ entry: SendEntry, to json: inout JSONWriter) {
        switch entry {
        case .began(let contents):
            json.key("sending")
            json.rows(contents) { $0.optionalHandle($1.handle) }
        case .saved(let key, let type, let sent, let version):
            json.about(key, "saved")
            json.beginObject()
            json.member("type", type?.text)
            json.key("sent")
            json.handle(sent)
            json.versionMembers(version)
            json.endObject()
        case .deletionConfirmed(let key): json.flag(key, "deletionConfirmed")
        case .parked(let key, let reason):
            json.about(key, "parked")
            json.reason(reason)
        }
    }

    private static func write(_ entry: ResolveEntry, to json: inout JSONWriter) {
        switch entry {
        case .resolved(let key, let client, let server, let resolution):
            json.about(key, "resolved")
            json.resolution(resolution, client: client, server: server)
        }
    }

    private static func write(_ entry: DeliveryEntry, to json: inout JSONWriter) {
        switch entry {
        case .accepted(let changes):
            json.key("accepted")
            json.rows(changes) { $0.uint($1.order) }
        case .handedOut(let orders):
            json.key("handedOut")
            json.orders(orders)
        case .followed: json.flag("followed", if: true)
        case .startedOver: json.flag("startedOver", if: true)
        case .replayed: json.flag("replayed", if: true)
        case .suspected(let keys):
            json.key("suspected")
            json.keys(keys)
        case .showing(let stream, let keys):
            json.key("showing")
            json.shown(ShownElements.Element(stream: stream, keys: keys))
        }
    }

    private static func write(_ entry: CallEntry, to json: inout JSONWriter) {
        switch entry {
        case .queued(let key, let type, let change):
            json.about(key, "queued")
            json.change(change, of: type)
        case .edited(let key, let type, let change):
            json.about(key, "edited")
            json.change(change, of: type)
        case .initialModelsQueued(let models):
            json.key("initialModelsQueued")
            json.initialModels(models)
        case .retried(let key): json.flag(key, "retried")
        case .discarded(let key): json.flag(key, "discarded")
        }
    }

    private static func write(_ entry: SnapshotEntry, to json: inout JSONWriter) {
        switch entry {
        case .summary(let summary):
            json.key("summary")
            json.summary(summary)
        case .zone(let number, let zone):
            json.about(number, "zoneState")
            json.zoneState(zone)
        case .record(let key, let type, let record):
            json.about(key, "record")
            json.record(record, of: type)
        }
    }
}

/// The beginnings of lines and rows.
extension JSONWriter {
    fileprivate mutating func about(_ zone: ZoneNumber, _ fact: String) {
        key("zone")
        uint(UInt64(zone.number))
        key(fact)
    }

    fileprivate mutating func about(_ record: RecordKey, _ fact: String) {
        key("zone")
        uint(UInt64(record.zone.number))
        key("name")
        string(record.recordName)
        key(fact)
    }

    fileprivate mutating func flag(_ zone: ZoneNumber, _ fact: String) {
        about(zone, fact)
        bool(true)
    }

    fileprivate mutating func flag(_ record: RecordKey, _ fact: String) {
        about(record, fact)
        bool(true)
    }

    /// Writes an array of rows that start with the zone and the name of a record.
    fileprivate mutating func rows<Row: RecordKeyed>(
        _ rows: [Row],
        _ rest: (inout JSONWriter, Row) -> Void
    ) {
        array(rows) { json, row in
            json.beginArray()
            json.uint(UInt64(row.key.zone.number))
            json.string(row.name)
            rest(&json, row)
            json.endArray()
        }
    }
}
