import RecordCoding

extension SyncDiagnostics: CustomStringConvertible {
    /// A multi-line description for bug reports; it contains record names but no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        let account = accountStatus.map { "\($0)" } ?? "not looked up yet"
        var lines = [
            "cloud: \(cloud)",
            "user: \(userRecordName?.quoted ?? "nobody yet"), account: \(account)",
            "status: \(status)",
            "records: \(knownCount) known, \(pendingCount) pending, \(parkedCount) parked, \(undeliveredCount) undelivered",
            "last fetch: \(lastFetch?.text ?? "never")",
            "state: \(stateDirectory ?? "in memory")",
        ]
        if !undecodable.isEmpty {
            lines.append("cannot be decoded: \(undecodable.map(\.quoted).joined(separator: ", "))")
        }
        lines += notes.map(\.description)
        return lines.joined(separator: "\n")
    }
}
