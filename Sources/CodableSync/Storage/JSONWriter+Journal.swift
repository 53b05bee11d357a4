import RecordCoding

import struct Foundation.Data
import struct Foundation.Date

/// The parts of the journal's entries, as ``JournalLine`` writes them.
extension JSONWriter {
    mutating func named(_ name: String, _ fact: String) {
        key("name")
        string(name)
        key(fact)
    }

    mutating func flag(_ name: String, _ fact: String) {
        named(name, fact)
        bool(true)
    }

    mutating func flag(_ fact: String) {
        key(fact)
        bool(true)
    }

    mutating func array<Element>(
        _ elements: [Element],
        _ body: (inout JSONWriter, Element) -> Void
    ) {
        beginArray()
        for element in elements { body(&self, element) }
        endArray()
    }

    mutating func handle(_ handle: ContentHandle) {
        uint(handle.number)
    }

    mutating func optionalHandle(_ handle: ContentHandle?) {
        if let handle { uint(handle.number) } else { null() }
    }

    mutating func member(_ name: String, _ handle: ContentHandle?) {
        guard let handle else { return }
        key(name)
        uint(handle.number)
    }

    mutating func date(_ date: Date) {
        int(date.stored)
    }

    mutating func optionalDate(_ date: Date?) {
        if let date { int(date.stored) } else { null() }
    }

    mutating func member(_ name: String, _ date: Date?) {
        guard let date else { return }
        key(name)
        int(date.stored)
    }

    mutating func token(_ token: ChangeToken?) {
        if let token { base64(token.data) } else { null() }
    }

    mutating func change(_ change: LocalChange) {
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

    mutating func reason(_ reason: ParkReason) {
        beginObject()
        key("kind")
        string(reason.kind.rawValue)
        key("message")
        string(reason.message)
        if reason.attempts != 1 {
            key("attempts")
            int(Int64(reason.attempts))
        }
        endObject()
    }

    mutating func versionMembers(_ version: KnownVersion) {
        key("tag")
        string(version.changeTag)
        member("handle", version.handle)
        key("hash")
        uint(version.hash)
        member("modified", version.modified)
        if version.size > 0 {
            key("size")
            int(Int64(version.size))
        }
    }

    mutating func resolution(
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
        case .redated(let handle, let size, let edited), .merged(let handle, let size, let edited):
            if case .merged = resolution { string("merged") } else { string("redated") }
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

    mutating func record(_ record: RecordState) {
        beginObject()
        if let known = record.known {
            key("known")
            beginObject()
            versionMembers(known)
            endObject()
        }
        if let lost = record.lost {
            key("lost")
            beginObject()
            versionMembers(lost)
            endObject()
        }
        if record.isLostRefused {
            key("lostRefused")
            bool(true)
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
        if record.isDeletionSent {
            key("deletionSent")
            bool(true)
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
        if record.isUnread {
            key("unread")
            bool(true)
        }
        endObject()
    }

    mutating func orders(_ orders: OrderRuns) {
        array(orders.runs) { json, run in
            json.beginArray()
            json.uint(run.lowerBound)
            json.uint(run.upperBound)
            json.endArray()
        }
    }

    mutating func note(_ note: SyncNote) {
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

    mutating func summary(_ summary: StateSummary) {
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
        accountMembers(summary)
        if !summary.handedOut.isEmpty {
            key("handedOut")
            orders(summary.handedOut.together)
            key("handedOutAlone")
            array(summary.handedOut.alone) { $0.uint($1) }
        }
        endObject()
    }

    private mutating func accountMembers(_ summary: StateSummary) {
        if let identity = summary.identity {
            key("identity")
            self.identity(identity)
        }
        if let user = summary.user {
            key("user")
            string(user)
        }
        if let signOut = summary.signOut {
            key("signOut")
            string(signOut.rawValue)
        }
        if summary.holdsRemoved {
            key("holdsRemoved")
            bool(true)
        }
    }

    mutating func identity(_ identity: StateIdentity) {
        beginObject()
        key("cloud")
        string(identity.cloud)
        key("scope")
        string(identity.scope)
        if let container = identity.container {
            key("container")
            string(container)
        }
        key("zone")
        string(identity.zone)
        key("recordType")
        string(identity.recordType)
        endObject()
    }
}
