import RecordCoding

import struct Foundation.Date

/// The engine's durable state, which the journal's rows give.
///
/// It changes only through functions that say what has happened, which are in the folders of their subjects. They
/// change it at once; if a turn cannot be stored, the core returns to the state before it. Effects outside the state
/// wait until the turn is stored: answers to calls, deliveries to the app, and requests that change the cloud.
package struct SyncState: Sendable {
    /// Diagnostics keep this many notes.
    static var maximumNotes: Int { 1000 }

    package private(set) var records = RecordRows()
    package private(set) var zones = ZoneTable<ZoneState>()
    package private(set) var summary = StateSummary()
    /// How far streams are, what they hold, and what earlier processes died over.
    package private(set) var streams = StreamRow()
    /// Notes, oldest first.
    package private(set) var notes: [SyncNote] = []

    // Derived from the records, in the order in which the work arose.
    /// Records with a change that can be sent.
    package private(set) var sendQueue = RecordQueue()
    /// Records whose edit must be reconciled with the cloud's latest version.
    package private(set) var conflictQueue = RecordQueue()
    /// Records with a parked change.
    package private(set) var parkedQueue = RecordQueue()
    /// Records that must be looked up by name.
    package private(set) var lookUpQueue = RecordQueue()
    /// Records whose latest version this app can't read, since a newer version of it has written that.
    package private(set) var tooNewQueue = RecordQueue()
    /// Records with requests that may still reach the server.
    private(set) var lateQueue = RecordQueue()
    /// Records that another device has deleted, which not all streams have told.
    private(set) var deletionQueue = RecordQueue()
    /// The records with changes that streams of `changes` have yet to tell, by number.
    private(set) var untold = NumberTrie<RecordKey>()
    /// The number of records of each zone that this device knows to be in the cloud.
    private var knownCounts = ZoneTable<Int>()
    /// The number of records that this device knows to be in the cloud.
    package private(set) var knownCount = 0
    /// The record types, and the records of each.
    private(set) var types = RecordTypes()
    /// The version with the latest date that the cloud has saved or returned.
    ///
    /// A cloud without that version has another history, for example because it was restored from a backup.
    package var newestKnown: KnownVersion? {
        newest.numbers.reduce(nil) { found, zone in
            guard let known = newest[zone], found?.isNewer(than: known) != true else { return found }
            return known
        }
    }
    /// Change tags that the cloud has given, at least one of them in each request that has changed it since the last
    /// complete fetch.
    package var knownChangeTags: [String] {
        let tags = [newestKnown?.changeTag].compactMap { $0 } + zones.numbers.flatMap { zone($0).unfetched }
        return tags.filter { !$0.isEmpty }
    }
    /// That version of each zone.
    package private(set) var newest = ZoneTable<KnownVersion>()

    /// Records in ``deletionQueue`` that were told since this was last drained, or are new in it.
    var toldDeletions: [RecordKey] = []

    /// How many changes have got a number; only for comparisons.
    private(set) var changeCount = 0

    /// Records whose contents in reads changed since this was last drained; input for the live streams, not
    /// part of the state.
    var reshown: [Reshown] = []

    /// Whether a row of a journal says that a record is gone, whose contents the next snapshot leaves out.
    package private(set) var hasGoneRecords = false

    /// The values replaced since ``beginImage()``; `nil` if changes are not recorded.
    var image: StateImage?
    /// Whether nothing changes, since the disk has refused what would.
    var isFrozen = false

    /// Records that were changed since this was last drained and cannot be sent now; not part of the state.
    var unsendable: [RecordKey] = []

    package init() {}

    package subscript(key: RecordKey) -> RecordState? { records[key] }

    /// The record that the app names.
    package subscript(name: String) -> RecordState? { records[key(name)] }

    /// The zones that are registered or have records in the cloud, in order.
    var zonesInUse: [ZoneNumber] {
        zones.numbers + knownCounts.numbers.filter { zones[$0] == nil }
    }

    /// The number of a zone's records that this device knows to be in the cloud.
    package func knownCount(in zone: ZoneNumber) -> Int { knownCounts[zone] ?? 0 }

    /// The number of changes that the server has not confirmed, parked ones included.
    package var pendingCount: Int { sendQueue.count + conflictQueue.count + parkedQueue.count }

    // MARK: Changing

    /// Changes one record, and updates its membership in the queues and in the index by type; records change
    /// in no other way.
    mutating func change(_ key: RecordKey, _ body: (inout RecordState) -> Void) {
        if isFrozen { return }
        let former = records[key]
        var record = former ?? RecordState()
        record.news = record.news(above: streams.accepted)
        body(&record)
        replace(former, by: record, at: key)
    }

    // Not inlined, since the compiler makes a copy of its caller for each closure.
    @inline(never)
    private mutating func replace(_ before: RecordState?, by record: RecordState, at key: RecordKey) {
        image?.keys.append(key)
        image?.changeCount += 1
        noteShown(key, from: before?.shown, to: record)
        let after = record.isEmpty ? nil : record
        records[key] = after
        types.move(key, from: before?.type, to: after?.type, records)
        count(key.zone, (after?.known == nil ? 0 : 1) - (before?.known == nil ? 0 : 1))
        if let known = after?.known, known.handle != before?.known?.handle,
            newest[key.zone]?.isNewer(than: known) != true
        {
            newest[key.zone] = known
        }
        Self.place(key, in: &sendQueue, from: before, to: after) { $0.isSendable }
        if after?.isSendable != true { unsendable.append(key) }
        Self.place(key, in: &conflictQueue, from: before, to: after) { $0.isInConflict }
        Self.place(key, in: &parkedQueue, from: before, to: after) { $0.pending?.parked != nil }
        Self.place(key, in: &lookUpQueue, from: before, to: after) { $0.mustLookUp }
        Self.place(key, in: &deletionQueue, from: before, to: after) { $0.server.isDeletion }
        Self.place(key, in: &lateQueue, from: before, to: after) { !$0.late.isEmpty }
        Self.place(key, in: &tooNewQueue, from: before, to: after) { $0.isTooNew }
        if after?.server.isDeletion == true, after?.news != before?.news || before?.server.isDeletion != true
        {
            toldDeletions.append(key)
        }
        noteNews(key, from: before, to: after)
    }

    /// Takes over the records of the files that nothing is left to do about.
    ///
    /// - Parameters:
    ///   - types: Their types, with the number of records of each.
    ///   - zones: Their zones, with the number of records and the newest version of each.
    ///   - settled: Makes the records, given the number of each type.
    mutating func adopt(
        types: [(name: ExactName, count: Int)],
        zones: [(number: ZoneNumber, count: Int, newest: KnownVersion?)],
        _ settled: ([RecordTypeNumber]) -> any SettledRecords
    ) {
        let numbers = types.map { self.types.met($0.name) }
        let settled = settled(numbers)
        let replaced = records.adopt(settled)
        for zone in zones {
            count(zone.number, zone.count)
            guard let found = zone.newest, newest[zone.number]?.isNewer(than: found) != true else { continue }
            newest[zone.number] = found
        }
        var counts = types.map(\.count)
        for key in replaced {
            guard let record = settled[key] else { continue }
            count(key.zone, -1)
            if let index = numbers.firstIndex(of: record.type) { counts[index] -= 1 }
        }
        self.types.adopt(zip(numbers, counts).map { ($0, $1) }, records)
    }

    /// Changes a record, and sets its type; `nil` leaves the type unchanged.
    mutating func change(_ key: RecordKey, of type: ExactName?, _ body: (inout RecordState) -> Void) {
        guard let type else { return change(key, body) }
        let number = types.met(type)
        change(key) { record in
            record.type = number
            body(&record)
        }
    }

    private mutating func count(_ zone: ZoneNumber, _ difference: Int) {
        if difference == 0 { return }
        knownCount += difference
        let count = knownCount(in: zone) + difference
        knownCounts[zone] = count == 0 ? nil : count
    }

    private mutating func noteShown(_ key: RecordKey, from former: ShownVersion?, to record: RecordState) {
        let shown = record.shown
        guard shown != former else { return }
        reshown.append(Reshown(key: key))
    }

    /// Notes that what the last change shows is this device's edit, which the cloud has confirmed.
    mutating func noteSaved(_ key: RecordKey) {
        if reshown.last?.key == key { reshown[reshown.count - 1].isSaved = true }
    }

    private mutating func noteNews(_ key: RecordKey, from former: RecordState?, to record: RecordState?) {
        let accepted = streams.accepted
        let (was, isNow) = (former?.news(above: accepted)?.number, record?.news(above: accepted)?.number)
        if was == isNow { return }
        if let was { untold[was] = nil }
        if let isNow {
            untold[isNow] = key
            changeCount &+= 1
        }
    }

    private static func place(
        _ key: RecordKey,
        in queue: inout RecordQueue,
        from former: RecordState?,
        to record: RecordState?,
        if belongs: (RecordState) -> Bool
    ) {
        let (was, isNow) = (former.map(belongs) ?? false, record.map(belongs) ?? false)
        if was == isNow { return }
        if isNow { queue.append(key) } else { queue.remove(key) }
    }

    mutating func forgetNewest(in zone: ZoneNumber) {
        if !isFrozen { newest[zone] = nil }
    }

    /// Forgets the newest known version of a zone, since the next zone may have another history.
    mutating func forgetNewestKnown(in zone: ZoneNumber) {
        forgetNewest(in: zone)
        changeZone(zone) { $0.unfetched = [] }
    }

    /// Drops the lists of changed records, which are of no use after the journal is replayed.
    package mutating func forgetWhatChanged() {
        toldDeletions.removeAll(keepingCapacity: true)
        reshown.removeAll(keepingCapacity: true)
        unsendable.removeAll(keepingCapacity: true)
    }

    mutating func changeSummary(_ body: (inout StateSummary) -> Void) {
        if isFrozen { return }
        body(&summary)
        image?.changeCount += 1
    }

    /// Changes how far streams are; they only go forward.
    ///
    /// Complexity: O(k log n) for k changes that are accepted.
    mutating func changeStreams(_ body: (inout StreamRow) -> Void) {
        if isFrozen { return }
        let former = streams.accepted
        body(&streams)
        image?.changeCount += 1
        if streams.accepted <= former { return }
        for entry in untold.entries(above: former) {
            if entry.number > streams.accepted { break }
            let record = records[entry.value]
            if record?.news?.isUndecodable != true { untold[entry.number] = nil }
            if record?.server.isDeletion == true { toldDeletions.append(entry.value) }
        }
    }

    /// Changes what is known about one zone; zones change in no other way.
    mutating func changeZone(_ number: ZoneNumber, _ body: (inout ZoneState) -> Void) {
        if isFrozen { return }
        image?.zones.append(number)
        image?.changeCount += 1
        var zone = zone(number)
        body(&zone)
        zones[number] = zone
    }

    /// Moves a record to the end, so that a record that keeps failing does not delay the others.
    mutating func moveToEndOfSendQueue(_ key: RecordKey) {
        if sendQueue.contains(key) { sendQueue.moveToEnd(key) }
    }

    /// Notes that a row says that a record is gone.
    mutating func noteGone() { hasGoneRecords = true }

    package mutating func keep(_ note: SyncNote) {
        if isFrozen { return }
        notes.append(note)
        image?.noteCount += 1
        image?.changeCount += 1
        if notes.count > Self.maximumNotes * 2 { notes.removeFirst(notes.count - Self.maximumNotes) }
    }

    // MARK: Recording changes

    /// Starts recording what changes.
    mutating func beginImage() {
        image = StateImage(records: records, summary: summary, streams: streams)
    }

    /// Notes that what changes must be flushed, since neither the cloud nor a stream would repeat it.
    ///
    /// Everything else is flushed with a later turn, or when no work is left.
    mutating func promise() {
        if !isFrozen { image?.mustFlush = true }
    }

    /// Gives the rows that store what a closure changes.
    package mutating func recording(_ body: (inout SyncState) -> Void) -> TurnChanges {
        beginImage()
        body(&self)
        defer { image = nil }
        return changes
    }
}
