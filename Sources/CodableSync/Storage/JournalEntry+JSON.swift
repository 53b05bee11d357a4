import RecordCoding

import struct Foundation.Data
import struct Foundation.Date

/// The lines of the journal: one entry each, the record's name first, its contents last.
///
/// `{"name":"Q90","queued":{"save":17,"size":450,"edited":1763719200000,"base":12},"contents":[[17,{…}]]}`
enum JournalLine {
    /// Where in a line the contents of a handle are.
    typealias Place = (handle: ContentHandle, range: Range<Int>)

    /// Makes the line of an entry, with the contents that it introduces.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - contents: The handles, and what writes the contents of each.
    /// - Returns: The line, and where the contents are in it.
    static func make(
        _ entry: JournalEntry,
        contents: [(handle: ContentHandle, write: (inout JSONWriter) -> Void)] = []
    ) -> (bytes: [UInt8], places: [Place]) {
        var json = JSONWriter(reserving: 512)
        var places: [Place] = []
        json.beginObject()
        writeFact(entry, to: &json)
        if !contents.isEmpty {
            json.key("contents")
            json.beginArray()
            for (handle, write) in contents {
                json.beginArray()
                json.handle(handle)
                // One byte further on: the comma before the contents.
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

    /// The facts that are not about one record.
    private static func writeFactOfAll(_ entry: JournalEntry, to json: inout JSONWriter) {
        switch entry {
        case .listed(let names):
            json.key("listed")
            json.array(names) { $0.string($1) }
        case .page(let token, let isComplete):
            json.key("page")
            json.beginObject()
            json.key("token")
            json.base64(token.data)
            json.key("complete")
            json.bool(isComplete)
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
                json.endArray()
            }
        case .zoneReady: json.flag("zoneReady")
        case .zoneLost(let reason):
            json.key("zoneLost")
            json.string(reason?.rawValue ?? "unknown")
        case .purgeResolved(let uploadAgain):
            json.key("purgeResolved")
            json.string(uploadAgain ? "uploadAgain" : "removeLocal")
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
        case .queued, .sending, .saved, .deletionConfirmed, .fetched, .fetchedDeletion, .resolved, .parked,
            .retried, .discarded, .record:
            break
        }
    }
}

// MARK: The parts of entries

extension JSONWriter {
    fileprivate mutating func named(_ name: String, _ fact: String) {
        key("name")
        string(name)
        key(fact)
    }

    fileprivate mutating func flag(_ name: String, _ fact: String) {
        named(name, fact)
        bool(true)
    }

    fileprivate mutating func flag(_ fact: String) {
        key(fact)
        bool(true)
    }

    fileprivate mutating func array<Element>(
        _ elements: [Element],
        _ body: (inout JSONWriter, Element) -> Void
    ) {
        beginArray()
        for element in elements { body(&self, element) }
        endArray()
    }

    fileprivate mutating func handle(_ handle: ContentHandle) {
        uint(handle.number)
    }

    fileprivate mutating func optionalHandle(_ handle: ContentHandle?) {
        if let handle { uint(handle.number) } else { null() }
    }

    fileprivate mutating func member(_ name: String, _ handle: ContentHandle?) {
        guard let handle else { return }
        key(name)
        uint(handle.number)
    }

    fileprivate mutating func date(_ date: Date) {
        int(date.stored)
    }

    fileprivate mutating func optionalDate(_ date: Date?) {
        if let date { int(date.stored) } else { null() }
    }

    fileprivate mutating func member(_ name: String, _ date: Date?) {
        guard let date else { return }
        key(name)
        int(date.stored)
    }

    fileprivate mutating func token(_ token: ChangeToken?) {
        if let token { base64(token.data) } else { null() }
    }

    fileprivate mutating func change(_ change: LocalChange) {
        beginObject()
        switch change.kind {
        case .save(let handle, let size):
            member("save", handle)
            key("size")
            int(Int64(size))
        case .delete:
            key("delete")
            bool(true)
        }
        member("edited", change.edited)
        member("base", change.base)
        if let parked = change.parked {
            key("parked")
            reason(parked)
        }
        endObject()
    }

    fileprivate mutating func reason(_ reason: ParkReason) {
        beginObject()
        key("kind")
        string(reason.kind.rawValue)
        key("message")
        string(reason.message)
        endObject()
    }

    fileprivate mutating func versionMembers(_ version: KnownVersion) {
        key("tag")
        string(version.changeTag)
        member("handle", version.handle)
        key("hash")
        uint(version.hash)
        member("modified", version.modified)
    }

    fileprivate mutating func resolution(
        _ resolution: Resolution,
        client: ContentHandle,
        server: ContentHandle?
    ) {
        beginObject()
        member("client", client)
        member("server", server)
        key("outcome")
        switch resolution {
        case .confirmed(let sent):
            string("confirmed")
            member("handle", sent)
        case .client: string("client")
        case .merged(let handle, let size, let edited):
            string("merged")
            member("handle", handle)
            key("size")
            int(Int64(size))
            member("edited", edited)
        case .server: string("server")
        case .failed(let failure):
            string("failed")
            key("reason")
            reason(failure)
        }
        endObject()
    }

    fileprivate mutating func record(_ record: RecordState) {
        beginObject()
        if let known = record.known {
            key("known")
            beginObject()
            versionMembers(known)
            endObject()
        }
        member("seen", record.seen)
        if let pending = record.pending {
            key("pending")
            change(pending)
        }
        if !record.sent.isEmpty {
            key("sent")
            array(record.sent) { json, sent in
                json.beginArray()
                json.handle(sent.handle)
                json.optionalHandle(sent.base)
                json.endArray()
            }
        }
        if let undelivered = record.undelivered {
            key("undelivered")
            beginObject()
            key("kind")
            switch undelivered.kind {
            case .updated(let handle):
                string("updated")
                member("handle", handle)
            case .saved(let handle):
                string("saved")
                member("handle", handle)
            case .deleted: string("deleted")
            }
            member("seen", undelivered.seen)
            key("order")
            uint(undelivered.order)
            endObject()
        }
        key("listing")
        uint(record.listing)
        endObject()
    }

    fileprivate mutating func note(_ note: SyncNote) {
        beginObject()
        key("kind")
        string(note.kind.rawValue)
        member("date", note.date)
        if let recordName = note.recordName {
            key("record")
            string(recordName)
        }
        key("message")
        string(note.message)
        endObject()
    }

    fileprivate mutating func summary(_ summary: StateSummary) {
        beginObject()
        if let token = summary.zoneToken {
            key("zoneToken")
            base64(token.data)
        }
        if let token = summary.databaseToken {
            key("databaseToken")
            base64(token.data)
        }
        key("zone")
        string(summary.zone.rawValue)
        key("subscribed")
        bool(summary.isSubscribed)
        key("listing")
        uint(summary.listing)
        key("isListing")
        bool(summary.isListing)
        member("serverWait", summary.serverWait)
        member("lastFetch", summary.lastFetch)
        key("deliveryOrder")
        uint(summary.deliveryOrder)
        key("initialModels")
        bool(summary.hasInitialModels)
        endObject()
    }
}
