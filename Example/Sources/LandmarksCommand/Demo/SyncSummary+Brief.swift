import CodableSync

extension SyncSummary {
    /// What was done, in a few words; what was not done is left out.
    var brief: String {
        let parts = [
            (sent, "sent"), (deleted, "deleted"), (fetched, "fetched"), (undecodable, "not decodable"),
            (conflictsResolved, conflictsResolved == 1 ? "conflict resolved" : "conflicts resolved"),
            (parked, "set aside"), (pending, "pending"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "nothing to do" : words.joined(separator: ", ")
    }
}
