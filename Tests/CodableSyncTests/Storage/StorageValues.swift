import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// One entry of every kind, with every optional part present and absent.
enum JournalSamples {
    static let date = Date(timeIntervalSince1970: 1_800_000_000.25)
    static let names = ["A", "Ünïcödé \"quoted\" \\ \u{1F30D}\n"]

    static var entries: [StateChange] {
        let version = KnownVersion(changeTag: "t\"1", handle: 9, hash: UInt64.max, modified: date, size: 17)
        let bare = KnownVersion(changeTag: "", handle: 10, hash: 0, modified: nil)
        var entries: [StateChange] = names.flatMap { name -> [StateChange] in
            changes.flatMap { [.queued(name: name, $0), .edited(name: name, $0)] } + [
                .saved(name: name, sent: 4, version), .saved(name: name, sent: 4, bare),
                .deletionConfirmed(name: name), .fetched(name: name, version), .fetched(name: name, bare),
                .fetchedDeletion(name: name), .retried(name: name), .discarded(name: name),
            ]
        }
        entries += reasons.map { .parked(name: "A", $0) }
        for server in [ContentHandle?.none, 7] {
            entries += resolutions.map { .resolved(name: "A", client: 6, server: server, $0) }
        }
        entries += records.map { .record(name: "A", $0) }
        return entries + entriesOfAll
    }

    static var changes: [LocalChange] {
        var decided = LocalChange(kind: .save(1, size: 450), edited: date, base: 2, contested: 14)
        decided.on.sides = [
            .init(edit: 16, ancestor: 17, contested: 24, isOwn: true), .init(edit: 18, ancestor: nil),
        ]
        decided.on.isMerged = true
        decided.earlier = [20, 21]
        decided.hash = UInt64.max
        var lost = LocalChange(kind: .save(1, size: 450), edited: date, base: nil)
        lost.on.origin = .lost(EditBase.Lost(22, isUploadedAgain: true))
        var deleted = lost
        deleted.on.origin = .lost(EditBase.Lost(23, isUploadedAgain: false))
        return [
            lost, deleted,
            LocalChange(kind: .save(1, size: 450), edited: date, base: 2),
            LocalChange(kind: .delete, edited: nil, base: nil),
            LocalChange(kind: .save(1, size: 450), edited: nil, base: 2, contested: 14), decided,
            LocalChange(kind: .save(3, size: 0), edited: nil, base: nil, parked: reasons[0]),
        ]
    }

    /// One line of every kind.
    static var lines: [StateRow] {
        // Whatever the entries change, and what they cannot lead to.
        var lines = entries.flatMap { entry -> [StateRow] in
            var state = SyncState()
            state.apply(.record(name: "A", LocalChange(kind: .save(6, size: 1), edited: date, base: 7).alone))
            return state.applyWriting([entry]).rows
        }
        for name in names {
            lines += changes.map { .record(RecordKey(name), type: testType, $0.alone) }
            lines += records.map { .record(RecordKey(name), type: nil, $0) }
            lines.append(.record(RecordKey(name), type: nil, nil))
        }
        return lines
    }

    static var reasons: [ParkReason] {
        [
            ParkReason(kind: .tooLarge, message: "big"), ParkReason(kind: .refused, message: ""),
            ParkReason(kind: .unknownError, message: "\u{0}", attempts: 8),
            ParkReason(kind: .resolverFailed, message: "x"),
            ParkReason(kind: .serverValueUndecodable, message: "y"),
            ParkReason(kind: .contentsUnreadable, message: "z"),
        ]
    }

    static var resolutions: [Resolution] {
        [
            .confirmed(8), .client, .merged(11, size: 20, edited: date), .merged(11, size: 0, edited: nil),
            .redated(12, size: 21, edited: date), .redated(12, size: 0, edited: nil),
            .server, .failed(reasons[3]),
        ]
    }

    static var records: [RecordState] {
        var full = RecordState()
        full.server = .known(KnownVersion(changeTag: "t", handle: 1, hash: 2, modified: date))
        full.carried = CarriedTags([.init("v", 3), .init("w \"\n")], ownBase: 15)
        full.pending = LocalChange(kind: .save(4, size: 5), edited: date, base: 6, parked: reasons[1])
        full.sent = [
            SentVersion(handle: 7, base: nil), SentVersion(handle: 8, base: 9, isBehindDeletion: true),
        ]
        full.isDeletionSent = true
        full.late.creations = [
            SentCreation(handle: 25, hash: UInt64.max, edited: date, isRepeated: true),
            SentCreation(handle: 26, hash: 0, edited: date),
        ]
        full.late.deletion = SentDeletion(date: date, count: 3)
        full.news = RecordNews(12)
        full.news?.isUndecodable = true
        full.listing = 13
        full.mustLookUp = true
        var saved = RecordState()
        saved.server = .known(KnownVersion(1))
        saved.news = RecordNews(2, isSaved: true)
        var newer = RecordState()
        newer.server = .known(KnownVersion(20, schema: 3))
        newer.kept = KnownVersion(19, schema: 2)
        var deleted = RecordState()
        deleted.server = .deleted(14)
        deleted.news = RecordNews(3)
        deleted.late.creations = [SentCreation(handle: 27, hash: 1, edited: date)]
        deleted.late.creations[0].isDeleted = true
        deleted.late.creations[0].isLost = true
        deleted.late.creations[0].isEdit = true
        deleted.pending = LocalChange(kind: .delete, edited: date, base: nil)
        deleted.pending?.isRepetition = true
        deleted.late.lastModified = date
        var lost = RecordState()
        lost.server = .lost(KnownVersion(changeTag: "u", handle: 13, hash: 3, modified: nil), isRefused: true)
        var waiting = lost
        waiting.server.retryLost()
        var reuploaded = saved
        reuploaded.late.deletion = SentDeletion(date: date)
        return [full, saved, reuploaded, newer, deleted, lost, waiting, RecordState()]
    }

    static var entriesOfAll: [StateChange] {
        var full = StateSummary()
        full.databaseToken = ChangeToken("database")
        full.serverWait = date
        full.lastFetch = date
        full.lastNumber = 5
        full.initialModels = [InitialModels("T"), InitialModels("\n", through: "\"")]
        full.schemas = schemas
        full.identity = identities[0]
        full.user = "alice"
        full.switchCount = 7
        full.untoldSwitch = UntoldSwitch(from: "bob \"")
        full.signOut = .removed
        full.isFollowed = true
        let note = SyncNote(kind: .parked, date: date, recordName: "A", message: "m")
        return [
            .made(for: identities[0]), .made(for: identities[1]), .claimed(by: "alice"), .claimed(by: ""),
            .entered(from: "bob", switchCount: 3), .entered(from: nil, switchCount: 4),
            .switchTold,
            .signedOut(removing: true), .signedOut(removing: false),
            .sendBegan([SendItem(name: "A", handle: 1), SendItem(name: "B", handle: nil)]),
            .sendBegan([]),
            .listed(names), .listed([]), .lookUpNeeded(names),
            .page(token: ChangeToken(""), isComplete: true),
            .page(token: ChangeToken("t"), isComplete: false),
            .listingBegan, .readable(schemas[0]), .readable(schemas[1]),
            .fetched(name: "A", KnownVersion(18, schema: 2)),
            .zoneReady, .zoneLost(nil), .zoneLost(.deleted), .zoneLost(.purged),
            .zoneLost(.encryptedDataReset),
            .purgeResolved(uploadAgain: true), .purgeResolved(uploadAgain: false),
            .databaseToken(nil), .databaseToken(ChangeToken("d")), .subscribed,
            .initialModelsQueued(InitialModels("T")),
            .initialModelsQueued(InitialModels("T", through: "\n")),
            .serverWait(until: nil), .serverWait(until: date), .fetchCompleted(date),
            .note(note), .note(SyncNote(kind: .zoneLost, date: date, message: "")),
            .summary(full), .summary(StateSummary()),
        ] + entriesOfZones
    }

    static var schemas: [ReadableSchema] {
        [
            ReadableSchema(type: "T", version: SchemaVersion(2), carriesTag: true),
            ReadableSchema(type: "\"", version: SchemaVersion(UInt32.max)),
        ]
    }

    static var entriesOfZones: [StateChange] {
        var full = ZoneState(zoneID: ZoneID(zoneName: "Z \"\n", ownerName: "bob"))
        full.stage = .purged
        full.token = ChangeToken("zone")
        full.isSubscribed = true
        full.isPositionLate = true
        full.listing = 4
        full.isListing = true
        full.unfetched = ["a", ""]
        let second = RecordKey(zone: ZoneNumber(2), name: "A")
        let change = LocalChange(kind: .delete, edited: nil, base: nil)
        return [
            .registered(1, "Z"),
            .registered(ZoneNumber(.max >> 3), ZoneID(zoneName: "Y", ownerName: "bob")),
            .row(.zone(ZoneNumber(3), full)), .zoneState(ZoneState()),
            .row(.zone(ZoneNumber(2), ZoneState())),
            .ready(ZoneNumber(2)), .lost(ZoneNumber(2), nil),
            .subscribed(ZoneNumber(2)), .listingBegan(ZoneNumber(2)),
            .listed(ZoneNumber(2), ["A"]), .lookUpNeeded(ZoneNumber(2), []),
            .page(ZoneNumber(2), token: ChangeToken("t"), isComplete: false),
            .queued(second, type: "\"", change), .retried(second),
            .fetched(second, type: "", KnownVersion(1)), .deletionFetched(second),
            .sendBegan([
                SendItem(key: "A", handle: 1, known: nil), SendItem(key: second, handle: nil, known: nil),
            ]),
            .row(.record(second, type: nil, records[0])),
            .followed, .startedOver, .told(["A"]),
            .renewed(["A", second]), .undecodable(["A"]),
            .held(["A"], accepted: 1), .held([], accepted: 2, replay: .reset),
            .held(["B"], accepted: 3, replay: .everything(after: second), suspects: ["C", second]),
            .held([], accepted: 3, replay: .everything(after: nil)), .row(.streams(StreamRow())),
            .saved(second, sent: 1, KnownVersion(2)),
        ]
    }

    static var identities: [StateIdentity] {
        [
            StateIdentity(cloud: "c", scope: "private", container: "i.c", zone: "Z", recordType: "T"),
            StateIdentity(cloud: "", scope: "", container: nil, zone: "\"", recordType: "\n"),
        ]
    }

    static func record(_ name: String, _ text: String) -> Record {
        Record(
            recordType: "T",
            recordID: RecordID(recordName: name, zoneID: ZoneID(zoneName: "Z")),
            fields: ["text": .string(text)]
        )
    }
}

extension LocalChange {
    /// A record with nothing but this change.
    var alone: RecordState {
        var record = RecordState()
        record.pending = self
        return record
    }
}
