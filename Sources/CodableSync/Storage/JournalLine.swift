import RecordCoding

import struct Foundation.Date

/// The lines of the journal, with one entry each: the record's name comes first, and its contents last.
///
/// `{"name":"Q90","queued":{"save":17,"size":450,"edited":1763719200000,"base":12},"contents":[[17,{…}]]}`
enum JournalLine {
    /// The place of a handle's contents in a line.
    typealias Place = (handle: ContentHandle, range: Range<Int>)

    /// Makes the line of an entry with the contents that it introduces.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - contents: The handles, and closures that write their contents.
    ///   - lastHandle: The highest handle in use; `nil` if earlier lines show it.
    /// - Returns: The line, and the places of the contents in it.
    static func make(
        _ entry: JournalEntry,
        contents: [(handle: ContentHandle, write: (inout JSONWriter) -> Void)] = [],
        lastHandle: UInt64? = nil
    ) -> (bytes: [UInt8], places: [Place]) {
        var json = JSONWriter(reserving: 512)
        var places: [Place] = []
        json.beginObject()
        writeFact(entry, to: &json)
        if let lastHandle {
            json.key("lastHandle")
            json.uint(lastHandle)
        }
        if !contents.isEmpty {
            json.key("contents")
            json.beginArray()
            for (handle, write) in contents {
                json.beginArray()
                json.handle(handle)
                // One byte further, because of the comma before the contents.
                let start = json.bytes.count + 1
                write(&json)
                places.append((handle, start..<json.bytes.count))
                json.endArray()
            }
            json.endArray()
        }
        json.endObject()
        return (json.bytes, places)
    }

    private static func writeFact(_ entry: JournalEntry, to json: inout JSONWriter) {
        switch entry {
        case .queued(let name, let change):
            json.named(name, "queued")
            json.change(change)
        case .edited(let name, let change, let copy, let given):
            json.named(name, "edited")
            json.change(change, copy: copy, given: given)
        case .sending(let contents):
            json.key("sending")
            json.array(contents) { json, sent in
                json.beginArray()
                json.string(sent.name)
                json.optionalHandle(sent.handle)
                json.endArray()
            }
        case .saved(let name, let sent, let version):
            json.named(name, "saved")
            json.beginObject()
            json.key("sent")
            json.handle(sent)
            json.versionMembers(version)
            json.endObject()
        case .deletionConfirmed(let name): json.flag(name, "deletionConfirmed")
        case .fetched(let name, let version):
            json.named(name, "fetched")
            json.beginObject()
            json.versionMembers(version)
            json.endObject()
        case .fetchedDeletion(let name): json.flag(name, "fetchedDeletion")
        case .resolved(let name, let client, let server, let resolution):
            json.named(name, "resolved")
            json.resolution(resolution, client: client, server: server)
        case .parked(let name, let reason):
            json.named(name, "parked")
            json.reason(reason)
        case .retried(let name): json.flag(name, "retried")
        case .discarded(let name): json.flag(name, "discarded")
        case .record(let name, let record):
            json.named(name, "record")
            json.record(record)
        default: writeFactOfAll(entry, to: &json)
        }
    }

    /// Writes an entry that is not about one record.
    private static func writeFactOfAll(_ entry: JournalEntry, to json: inout JSONWriter) {
        switch entry {
        case .made(let identity):
            json.key("made")
            json.identity(identity)
        case .claimed(let user):
            json.member("claimed", user)
        case .signedOut(let removing):
            json.member("signedOut", (removing ? SignOut.removed : .kept).rawValue)
        case .unread(let names):
            json.key("unread")
            json.array(names) { $0.string($1) }
        case .listed(let names):
            json.key("listed")
            json.array(names) { $0.string($1) }
        case .page(let token, let isComplete):
            json.key("page")
            json.beginObject()
            json.key("token")
            json.base64(token.data)
            json.member("complete", isComplete)
            json.endObject()
        case .listingBegan: json.flag("listingBegan")
        case .initialModelsQueued: json.flag("initialModelsQueued")
        case .accepted(let changes):
            json.key("accepted")
            json.array(changes) { json, change in
                json.beginArray()
                json.string(change.name)
                json.uint(change.order)
                json.optionalHandle(change.seen)
                json.optionalHandle(change.version)
                json.string(change.kind.rawValue)
                json.endArray()
            }
        case .handedOut(let orders):
            json.key("handedOut")
            json.orders(orders)
        case .zoneReady: json.flag("zoneReady")
        case .zoneLost(let reason):
            json.member("zoneLost", reason?.rawValue ?? "unknown")
        case .purgeResolved(let uploadAgain):
            json.member("purgeResolved", uploadAgain ? "uploadAgain" : "removeLocal")
        case .databaseToken(let token):
            json.key("databaseToken")
            json.token(token)
        case .subscribed: json.flag("subscribed")
        case .serverWait(let until):
            json.key("serverWait")
            json.optionalDate(until)
        case .fetchCompleted(let date):
            json.key("fetchCompleted")
            json.date(date)
        case .note(let note):
            json.key("note")
            json.note(note)
        case .summary(let summary):
            json.key("summary")
            json.summary(summary)
        case .queued, .edited, .sending, .saved, .deletionConfirmed, .fetched, .fetchedDeletion,
            .resolved, .parked,
            .retried, .discarded, .record:
            break
        }
    }
}
