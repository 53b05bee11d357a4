public import RecordCoding

/// What a ledger knows of one zone as a whole, beside its records.
///
/// A removed zone keeps its head, since other devices must still learn of the removal. A ``LedgerRowStorage`` stores a
/// head as it is, for example as JSON.
@_spi(Server) public struct LedgerZoneHead: Codable, Equatable, Sendable {
    /// The removal of a zone, and the reason.
    struct Removal: Codable, Equatable, Sendable {
        var reason: DatabaseChanges.Deletion.Reason
        var canBeRecreated: Bool
        var sequence: Int64
    }

    /// The zone; if the user of the database owns it, the owner is `ZoneID.currentUserOwnerName`.
    public let zoneID: ZoneID
    /// The sequence of the newest change, by which ``LedgerKey/zonesChanged(after:limit:)`` finds the zone.
    public private(set) var lastSequence: Int64
    /// The size of the stored field data in bytes.
    public internal(set) var usedBytes = 0
    /// The sequence at which the zone was created.
    let incarnation: Int64
    /// The generation that valid change tokens have.
    var generation: Int64
    private(set) var removal: Removal?
    /// The removal of the former zone with this name.
    let former: Removal?

    /// Whether the zone was removed; ``LedgerKey/zones`` are the others.
    public var isRemoved: Bool { removal != nil }

    init(_ zoneID: ZoneID, incarnation: Int64, former: Removal? = nil) {
        self.zoneID = zoneID
        self.incarnation = incarnation
        self.former = former
        generation = incarnation
        lastSequence = incarnation
    }

    mutating func noteChange(at sequence: Int64) { lastSequence = max(lastSequence, sequence) }

    mutating func remove(_ removal: Removal) {
        self = LedgerZoneHead(zoneID, incarnation: incarnation, former: former)
        self.removal = removal
        lastSequence = removal.sequence
    }
}
