import RecordCoding

import struct Foundation.Date

@testable import CodableSync

/// A change of the durable state, so that tests can list and mix changes.
struct StateChange: CustomStringConvertible {
    let description: String
    let apply: (inout SyncState) -> Void

    init(_ description: String, _ apply: @escaping (inout SyncState) -> Void) {
        self.description = description
        self.apply = apply
    }

    // MARK: The account

    static func made(for identity: StateIdentity) -> StateChange {
        StateChange("made for \(identity)") { $0.begin(as: identity) }
    }
    static func claimed(by user: String) -> StateChange {
        StateChange("claimed by \(user)") { $0.claim(by: user) }
    }
    static func entered(from former: String?, switchCount: UInt64) -> StateChange {
        StateChange("entered, switch \(switchCount)") { $0.enter(from: former, switchCount: switchCount) }
    }
    static var switchTold: StateChange { StateChange("switch told") { $0.endUntoldSwitch() } }
    static func signedOut(removing: Bool) -> StateChange {
        StateChange("signed out, removing: \(removing)") { $0.signOut(removing: removing) }
    }

    // MARK: Zones

    static func registered(_ number: ZoneNumber, _ zoneID: ZoneID) -> StateChange {
        StateChange("registered \(zoneID)") { $0.register(zoneID, as: number) }
    }
    static func registered(_ number: UInt32, _ name: String) -> StateChange {
        registered(ZoneNumber(number), ZoneID(zoneName: name))
    }
    static func ready(_ zone: ZoneNumber) -> StateChange {
        StateChange("\(zone) is ready") { $0.noteReady(zone) }
    }
    static var zoneReady: StateChange { ready(.first) }
    static func lost(_ zone: ZoneNumber, _ reason: DatabaseChanges.Deletion.Reason?) -> StateChange {
        StateChange("\(zone) is lost: \(String(describing: reason))") { $0.lose(zone, reason) }
    }
    static func zoneLost(_ reason: DatabaseChanges.Deletion.Reason?) -> StateChange { lost(.first, reason) }
    static func purgeResolved(uploadAgain: Bool) -> StateChange {
        StateChange("upload again: \(uploadAgain)") { $0.resolvePurge(uploadAgain: uploadAgain) }
    }
    static func databaseToken(_ token: ChangeToken?) -> StateChange {
        StateChange("database token \(String(describing: token))") { $0.setDatabaseToken(token) }
    }
    static func subscribed(_ zone: ZoneNumber) -> StateChange {
        StateChange("subscribed to \(zone)") { $0.noteSubscribed(to: zone) }
    }
    static var subscribed: StateChange { subscribed(.first) }

    // MARK: Fetching

    static func fetched(_ key: RecordKey, type: ExactName, _ version: KnownVersion) -> StateChange {
        StateChange("fetched \(key)") { $0.receive(key, of: type, version) }
    }
    static func fetched(name: String, _ version: KnownVersion) -> StateChange {
        fetched(RecordKey(name), type: testType, version)
    }
    static func deletionFetched(_ key: RecordKey) -> StateChange {
        StateChange("fetched the deletion of \(key)") { $0.receiveDeletion(of: key) }
    }
    static func fetchedDeletion(name: String) -> StateChange { deletionFetched(RecordKey(name)) }
    static func lookUpNeeded(_ zone: ZoneNumber, _ names: [ExactName]) -> StateChange {
        StateChange("unread: \(names)") { $0.noteUnread(names.map { RecordKey(zone: zone, name: $0) }) }
    }
    static func lookUpNeeded(_ names: [String]) -> StateChange {
        lookUpNeeded(.first, names.map { ExactName($0) })
    }
    static func listed(_ zone: ZoneNumber, _ names: [ExactName]) -> StateChange {
        StateChange("listed: \(names)") { $0.noteListed(names.map { RecordKey(zone: zone, name: $0) }) }
    }
    static func listed(_ names: [String]) -> StateChange { listed(.first, names.map { ExactName($0) }) }
    static func page(_ zone: ZoneNumber, token: ChangeToken, isComplete: Bool) -> StateChange {
        StateChange("page up to \(token)") { $0.endPage(of: zone, at: token, isComplete: isComplete) }
    }
    static func page(token: ChangeToken, isComplete: Bool) -> StateChange {
        page(.first, token: token, isComplete: isComplete)
    }
    static func listingBegan(_ zone: ZoneNumber) -> StateChange {
        StateChange("listing of \(zone)") { $0.beginListing(of: zone) }
    }
    static var listingBegan: StateChange { listingBegan(.first) }
    static func fetchCompleted(_ date: Date) -> StateChange {
        StateChange("end of a fetch") { $0.endFetch(at: date) }
    }
    static func readable(_ schema: ReadableSchema) -> StateChange {
        StateChange("readable: \(schema)") { $0.setReadable(schema) }
    }

    // MARK: Sending, resolving

    static func sendBegan(_ items: [SendItem]) -> StateChange {
        StateChange("sending \(items)") { $0.beginSending(items, at: Date(timeIntervalSince1970: 0)) }
    }
    static func saved(_ key: RecordKey, sent: ContentHandle, _ version: KnownVersion) -> StateChange {
        StateChange("saved \(key)") { $0.confirm(sent, of: key, as: version) }
    }
    static func saved(name: String, sent: ContentHandle, _ version: KnownVersion) -> StateChange {
        StateChange("saved \(name)") { state in
            state.confirm(sent, of: RecordKey(name), as: version)
            state.change(RecordKey(name), of: testType) { _ in }
        }
    }
    static func deletionConfirmed(_ key: RecordKey) -> StateChange {
        StateChange("deleted \(key)") { $0.confirmDeletion(of: key, isAnswer: true) }
    }
    static func deletionConfirmed(name: String) -> StateChange { deletionConfirmed(RecordKey(name)) }
    static func parked(_ key: RecordKey, _ reason: ParkReason) -> StateChange {
        StateChange("parked \(key)") { $0.park(key, reason) }
    }
    static func parked(name: String, _ reason: ParkReason) -> StateChange { parked(RecordKey(name), reason) }
    static func resolved(
        name: String,
        client: ContentHandle,
        server: ContentHandle?,
        _ resolution: Resolution
    ) -> StateChange {
        StateChange("resolved \(name): \(resolution)") {
            $0.resolve(RecordKey(name), client: client, server: server, resolution)
        }
    }

    // MARK: Delivering

    static var followed: StateChange { StateChange("followed") { $0.follow() } }
    static var startedOver: StateChange { StateChange("started over") { $0.startOver() } }
    static func renewed(_ keys: [RecordKey]) -> StateChange {
        StateChange("renewed \(keys)") { for key in keys { $0.renew(key) } }
    }
    static func undecodable(_ keys: [RecordKey]) -> StateChange {
        StateChange("undecodable: \(keys)") { for key in keys { $0.markUndecodable(key) } }
    }
    static func told(_ keys: [RecordKey]) -> StateChange {
        StateChange("told \(keys)") { for key in keys { $0.endTelling(key) } }
    }
    static func streams(_ row: StreamRow) -> StateChange {
        StateChange("streams \(row)") { $0.changeStreams { $0 = row } }
    }
    /// The row of one stream, which holds these records.
    static func held(
        _ names: [String],
        by stream: StreamID = 1,
        accepted: UInt64 = 0,
        replay: StreamRow.Replay? = nil,
        suspects: [RecordKey] = []
    ) -> StateChange {
        streams(.held(names, by: stream, accepted: accepted, replay: replay, suspects: suspects))
    }

    // MARK: Calls

    static func queued(_ key: RecordKey, type: ExactName, _ change: LocalChange) -> StateChange {
        StateChange("queued \(key)") { $0.queue(key, of: type, change) }
    }
    static func queued(name: String, _ change: LocalChange) -> StateChange {
        queued(RecordKey(name), type: testType, change)
    }
    static func edited(name: String, _ change: LocalChange) -> StateChange {
        StateChange("edited \(name)") { $0.edit(RecordKey(name), of: testType, change) }
    }
    static func initialModelsQueued(_ models: InitialModels) -> StateChange {
        StateChange("queued \(models)") { $0.noteQueued(models) }
    }
    static func retried(_ key: RecordKey) -> StateChange { StateChange("retried \(key)") { $0.retry(key) } }
    static func retried(name: String) -> StateChange { retried(RecordKey(name)) }
    static func discarded(_ key: RecordKey) -> StateChange {
        StateChange("discarded \(key)") { $0.discard(key) }
    }
    static func discarded(name: String) -> StateChange { discarded(RecordKey(name)) }

    // MARK: Rows

    static func serverWait(until date: Date?) -> StateChange {
        StateChange("wait until \(String(describing: date))") { $0.changeSummary { $0.serverWait = date } }
    }
    static func note(_ note: SyncNote) -> StateChange { StateChange("note \(note)") { $0.keep(note) } }
    static func row(_ row: StateRow) -> StateChange { StateChange("\(row)") { $0.apply(row: row) } }
    static func summary(_ summary: StateSummary) -> StateChange { .row(.summary(summary)) }
    static func zoneState(_ zone: ZoneState) -> StateChange { .row(.zone(.first, zone)) }
    static func record(name: String, _ record: RecordState) -> StateChange {
        .row(.record(RecordKey(name), type: testType, record))
    }
}

extension SyncState {
    mutating func apply(_ change: StateChange) { change.apply(&self) }

    /// Applies changes, and gives the rows that store them.
    mutating func applyWriting(_ changes: [StateChange]) -> TurnChanges {
        recording { state in for change in changes { state.apply(change) } }
    }
}

extension JSONStateStore {
    /// Stores what changes make of a state, flushed.
    func append(_ changes: [StateChange], to state: inout SyncState) throws {
        try change(&state) { state in for change in changes { state.apply(change) } }
    }
}

extension StreamRow {
    /// The row of one stream, which holds these records.
    static func held(
        _ names: [String],
        by stream: StreamID = 1,
        accepted: UInt64 = 0,
        replay: StreamRow.Replay? = nil,
        suspects: [RecordKey] = []
    ) -> StreamRow {
        let element = StreamRow.Element(stream: stream, keys: names.map { RecordKey(stringLiteral: $0) })
        var row = StreamRow(elements: names.isEmpty ? [] : [element], suspects: suspects)
        row.accepted = accepted
        row.replay = replay
        return row
    }
}

extension StateRow {
    /// The record whose row it is.
    var recordName: String? { if case .record(let key, _, _) = self { key.recordName } else { nil } }

    /// The record's state, if it is the row of a record.
    var record: RecordState? { if case .record(_, _, let record) = self { record } else { nil } }

    /// The zone's state, if it is the row of a zone.
    var zone: ZoneState? { if case .zone(_, let zone) = self { zone } else { nil } }

    /// The parts of the state as a whole, if it is the row of these.
    var summary: StateSummary? { if case .summary(let summary) = self { summary } else { nil } }
}

extension StateSummary {
    /// Whether it differs from another one in more than the last number, which records' rows have as well.
    func isOther(than other: StateSummary) -> Bool {
        var summary = self
        summary.lastNumber = other.lastNumber
        return summary != other
    }
}
