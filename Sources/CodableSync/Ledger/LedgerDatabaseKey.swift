import RecordCoding

/// Identifies a database of a ledger: its user and its scope.
struct LedgerDatabaseKey: Hashable, Sendable {
    let user: ExactName
    let scope: DatabaseScope

    init(_ user: String, _ scope: DatabaseScope) {
        self.user = ExactName(user)
        self.scope = scope
    }

    /// Whether the user owns the zone, by name or as the current user.
    func owns(_ zoneID: ZoneID) -> Bool {
        zoneID.ownerName == ZoneID.currentUserOwnerName || zoneID.ownerName.isIdentical(to: user.text)
    }

    /// The ID under which a zone is stored: the user's own zones are those of the current user.
    func normalized(_ zoneID: ZoneID) -> ZoneID {
        owns(zoneID) ? ZoneID(zoneName: zoneID.zoneName) : zoneID
    }
}

extension LedgerDatabaseKey: Comparable {
    static func < (lhs: LedgerDatabaseKey, rhs: LedgerDatabaseKey) -> Bool {
        lhs.user == rhs.user ? lhs.scope.rawValue < rhs.scope.rawValue : lhs.user < rhs.user
    }
}

extension ZoneID {
    /// The order of zones in listings: by the bytes of their names, then of their owners.
    func precedes(_ other: ZoneID) -> Bool {
        zoneName.isIdentical(to: other.zoneName)
            ? ownerName.precedes(other.ownerName) : zoneName.precedes(other.zoneName)
    }
}
