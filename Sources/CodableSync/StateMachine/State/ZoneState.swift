import RecordCoding

/// What the state knows about one zone.
package struct ZoneState: Equatable, Sendable {
    /// The zone, with its owner; `nil` if the line that registered it was lost.
    package var zoneID: ZoneID?
    package var stage: ZoneStage = .unknown
    package var token: ChangeToken?
    /// Whether records were known before the position in the database's feed was read, so that a listing may
    /// be of another zone.
    package var isPositionLate = false
    package var isSubscribed = false
    /// The number of the newest full listing; `isListing` is true until it is complete.
    package var listing: UInt64 = 0
    package var isListing = false
    /// A change tag that each save request since the last complete fetch has got, or an empty one without an answer.
    ///
    /// Together they tell a restored cloud, which one tag of a save after the restore would hide.
    package var unfetched: [String] = []

    package init(zoneID: ZoneID? = nil) {
        self.zoneID = zoneID
    }
}

extension ZoneState {
    /// How many save requests are remembered: the first, and the last ones.
    private static var maximumUnfetched: Int { 64 }

    mutating func beginSaving() {
        if unfetched.last?.isEmpty == true { return }
        if unfetched.count >= Self.maximumUnfetched { unfetched.remove(at: 1) }
        unfetched.append("")
    }

    mutating func noteSaved(as tag: String) {
        if unfetched.last?.isEmpty == true { unfetched[unfetched.count - 1] = tag }
    }
}

/// What the state knows about a zone's existence.
package enum ZoneStage: String, Equatable, Sendable {
    /// Not created yet, as far as this device knows.
    case unknown
    /// Exists.
    case ready
    /// The user purged it, and the app must decide what happens to its data.
    case purged
    /// The user reset the encryption key of its records; the zone must be deleted and created again.
    case unreadable
}

/// The numbers of zones.
extension SyncState {
    /// The zone of an engine, which has one: the first that was registered.
    package var engineZone: ZoneNumber { zones.first { $0.zoneID != nil } ?? .first }

    /// The key of a record that the app names.
    package func key(_ name: String) -> RecordKey { RecordKey(zone: engineZone, name: ExactName(name)) }

    /// What is known about a zone.
    package func zone(_ number: ZoneNumber) -> ZoneState { zones[number] ?? ZoneState() }

    /// Whether the user has purged a zone, and the app must decide what happens to its data.
    package var isPurged: Bool { zones.first { $0.stage == .purged } != nil }

    /// The number of a zone, if it is registered.
    package func number(of zoneID: ZoneID) -> ZoneNumber? { zones.first { $0.zoneID == zoneID } }

    /// The number for a zone that is not registered: one above all numbers in use.
    ///
    /// If the line that registered a zone was lost, its number is in use without a zone ID. If there is one
    /// such number, it is that of the zone.
    ///
    /// Complexity: O(n log n), once for each new zone.
    package func numberForNewZone() -> ZoneNumber {
        var used = zones.numbers
        for key in records.sortedKeys where key.zone != used.last { used.append(key.zone) }
        var unregistered: [ZoneNumber] = []
        for number in used.sorted() where zones[number]?.zoneID == nil && number != unregistered.last {
            unregistered.append(number)
        }
        if unregistered.count == 1 { return unregistered[0] }
        guard let last = used.max() else { return .first }
        if last.number + 1 < ZoneNumber.limit { return ZoneNumber(last.number + 1) }
        // Only damage can use the highest number; a number that is not in use belongs to no zone.
        var free = ZoneNumber.first
        for number in used.sorted() where number == free { free = ZoneNumber(free.number + 1) }
        return free
    }
}
