import RecordCoding

import struct Foundation.Data
import struct Foundation.Date

/// Writing the parts of rows for ``JournalLine``.
extension JSONWriter {
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

    mutating func member(_ name: String, _ date: Date?) {
        guard let date else { return }
        key(name)
        int(date.stored)
    }

    mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        key(name)
        string(text)
    }

    mutating func member(_ name: String, _ token: ChangeToken?) {
        guard let token else { return }
        key(name)
        base64(token.data)
    }

    mutating func member(_ name: String, _ number: UInt64) {
        key(name)
        uint(number)
    }

    mutating func member(_ name: String, _ isTrue: Bool) {
        key(name)
        bool(isTrue)
    }

    /// Writes a flag only if it is true.
    mutating func flag(_ fact: String, if isTrue: Bool) {
        if isTrue { member(fact, true) }
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
            flag("repeats", if: change.isRepetition)
        }
        member("edited", change.edited)
        if let hash = change.hash { member("hash", hash) }
        member("base", change.base)
        member("contested", change.on.contested)
        if let lost = change.on.lost {
            member("lostBase", lost.version)
            flag("lostBaseAgain", if: lost.isUploadedAgain)
        }
        if !change.on.sides.isEmpty {
            key("sides")
            array(change.on.sides) { json, side in
                json.beginObject()
                json.member("edit", side.edit)
                json.member("ancestor", side.ancestor)
                json.member("contested", side.contested)
                json.flag("own", if: side.isOwn)
                json.endObject()
            }
        }
        if !change.earlier.isEmpty {
            key("earlier")
            array(change.earlier) { $0.handle($1) }
        }
        if change.on.isMerged {
            key("merged")
            bool(true)
        }
        if let parked = change.parked {
            key("parked")
            reason(parked)
        }
        endObject()
    }

    mutating func reason(_ reason: ParkReason) {
        beginObject()
        member("kind", reason.kind.rawValue)
        member("message", reason.message)
        if reason.attempts != 1 {
            key("attempts")
            int(Int64(reason.attempts))
        }
        endObject()
    }

    mutating func versionMembers(_ version: KnownVersion) {
        member("tag", version.changeTag)
        member("handle", version.handle)
        member("hash", version.hash)
        member("modified", version.modified)
        if version.size > 0 {
            key("size")
            int(Int64(version.size))
        }
        if version.schema > .first { member("schema", UInt64(version.schema.number)) }
    }

    mutating func readable(_ schema: ReadableSchema) {
        beginArray()
        string(schema.type.text)
        uint(UInt64(schema.version.number))
        bool(schema.carriesTag)
        endArray()
    }

    mutating func record(_ record: RecordState, of type: ExactName?) {
        beginObject()
        member("type", type?.text)
        member("known", record.known)
        member("lost", record.lost)
        member("kept", record.kept)
        if case .lost(_, isRefused: true) = record.server { member("lostRefused", true) }
        if record.carried != CarriedTags() {
            key("carried")
            carried(record.carried)
        }
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
                json.bool(sent.isBehindDeletion)
                json.endArray()
            }
        }
        flag("deletionSent", if: record.isDeletionSent)
        late(record.late)
        flag("deleted", if: record.server.isDeletion)
        member("former", record.server.deleted)
        if let news = record.news {
            member(news.isSaved ? "saved" : "news", news.number)
            flag("undecodable", if: news.isUndecodable)
        }
        member("listing", record.listing)
        flag("lookUpNeeded", if: record.mustLookUp)
        endObject()
    }

    private mutating func late(_ late: LateRequests) {
        if let deletion = late.deletion {
            key("deletionOnItsWay")
            array([deletion]) { json, sent in
                json.beginArray()
                json.date(sent.date)
                json.uint(UInt64(clamping: sent.count))
                json.endArray()
            }
        }
        if late.creations.isEmpty { return }
        key("creations")
        array(late.creations) { json, sent in
            json.beginArray()
            json.handle(sent.handle)
            json.uint(sent.hash)
            json.date(sent.edited)
            json.bool(sent.isRepeated)
            json.bool(sent.isDeleted)
            json.bool(sent.isLost)
            json.bool(sent.isEdit)
            json.endArray()
        }
        member("creationsAfter", late.lastModified)
    }

    private mutating func carried(_ carried: CarriedTags) {
        beginObject()
        key("tags")
        array(carried.tags) { json, former in
            json.beginArray()
            json.string(former.tag)
            json.optionalHandle(former.version)
            json.endArray()
        }
        member("ownBase", carried.ownBase)
        member("doubt", carried.doubt)
        endObject()
    }

    private mutating func member(_ name: String, _ version: KnownVersion?) {
        guard let version else { return }
        key(name)
        beginObject()
        versionMembers(version)
        endObject()
    }

    mutating func note(_ note: SyncNote) {
        beginObject()
        member("kind", note.kind.rawValue)
        member("date", note.date)
        member("record", note.recordName)
        member("message", note.message)
        endObject()
    }

    mutating func summary(_ summary: StateSummary) {
        beginObject()
        member("databaseToken", summary.databaseToken)
        member("serverWait", summary.serverWait)
        member("lastFetch", summary.lastFetch)
        member("lastNumber", summary.lastNumber)
        if !summary.initialModels.isEmpty {
            key("initialModels")
            array(summary.initialModels) { $0.initialModels($1) }
        }
        if !summary.schemas.isEmpty {
            key("schemas")
            array(summary.schemas) { $0.readable($1) }
        }
        accountMembers(summary)
        flag("followed", if: summary.isFollowed)
        endObject()
    }

    /// Writes the type if all models are queued, or the type and the last name.
    mutating func initialModels(_ models: InitialModels) {
        guard let last = models.last else { return string(models.type.text) }
        array([models.type, last]) { $0.string($1.text) }
    }

    mutating func zoneState(_ zone: ZoneState) {
        beginObject()
        if let zoneID = zone.zoneID { members(of: zoneID) }
        member("stage", zone.stage.rawValue)
        member("token", zone.token)
        flag("subscribed", if: zone.isSubscribed)
        flag("positionLate", if: zone.isPositionLate)
        member("listing", zone.listing)
        flag("isListing", if: zone.isListing)
        if !zone.unfetched.isEmpty {
            key("unfetched")
            array(zone.unfetched) { $0.string($1) }
        }
        endObject()
    }

    mutating func members(of zoneID: ZoneID) {
        member("name", zoneID.zoneName)
        member("owner", zoneID.ownerName)
    }

    private mutating func accountMembers(_ summary: StateSummary) {
        if let identity = summary.identity {
            key("identity")
            self.identity(identity)
        }
        member("user", summary.user)
        member("switches", summary.switchCount)
        if let untold = summary.untoldSwitch {
            key("untoldSwitch")
            beginObject()
            member("from", untold.from)
            endObject()
        }
        member("signOut", summary.signOut?.rawValue)
    }

    mutating func identity(_ identity: StateIdentity) {
        beginObject()
        identityMembers(identity)
        endObject()
    }

    mutating func identityMembers(_ identity: StateIdentity) {
        member("cloud", identity.cloud)
        member("scope", identity.scope)
        member("container", identity.container)
        member("zone", identity.zone)
        member("recordType", identity.recordType)
    }
}
