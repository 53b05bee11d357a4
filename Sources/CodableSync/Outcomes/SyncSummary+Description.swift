extension SyncSummary: CustomStringConvertible {
    /// What the call did, without zero counts: `2 sent, 1 conflict resolved`, or `nothing to sync`.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        let conflicts = conflictsResolved == 1 ? "conflict resolved" : "conflicts resolved"
        let counts = [
            (sent, "sent"), (deleted, "deleted"), (fetched, "fetched"), (undecodable, "not decodable"),
            (conflictsResolved, conflicts), (parked, "parked"), (pending, "pending"),
        ]
        let words = counts.filter { $0.0 != 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "nothing to sync" : words.joined(separator: ", ")
    }
}
