import RecordCoding

/// Identifies a database of a ledger: its user and its scope.
struct LedgerDatabaseKey: Hashable, Sendable {
    let user: ExactName
    let scope: DatabaseScope

    init(_ user: String, _ scope: DatabaseScope) {
        self.user = ExactName(user)
        self.scope = scope
    }

    /// The ID under which a zone is stored: the user's own zones are those of the current user.
    func normalized(_ zoneID: ZoneID) -> ZoneID {
        zoneID.ownerName.isIdentical(to: user.text) ? ZoneID(zoneName: zoneID.zoneName) : zoneID
    }

    /// A change of this database.
    func entry(_ change: LedgerEntry.Change, at sequence: Int64? = nil) -> LedgerEntry {
        LedgerEntry(user: user.text, scope: scope, change: change, sequence: sequence)
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
