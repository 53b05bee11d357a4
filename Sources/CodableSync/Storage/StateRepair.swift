/// What damage leaves behind that no whole journal ever has: words about contents that are gone.
///
/// Everything is fetched again after damage. Until then nothing may be decided on what is only half there: an edit
/// whose version was lost must not pass for an edit of a record that was deleted, nor be compared with a version
/// that is older than the one it was made on.
enum StateRepair {
    /// The entries that make a state whole again.
    ///
    /// - Parameter fold: What could be read.
    /// - Returns: The entries, to be stored and applied.
    static func entries(for fold: JournalFold) -> [JournalEntry] {
        let state = fold.state
        let isStored = { (handle: ContentHandle) in fold.positions[handle] != nil }
        var entries: [JournalEntry] = []
        var lastListing = state.summary.listing
        for name in state.sortedNames {
            guard let record = state[name] else { continue }
            lastListing = max(lastListing, record.listing)
            var repaired = record.repaired(isStored)
            if let handle = fold.superseded[name], handle == record.pending?.handle { repaired.pending = nil }
            if repaired != record { entries.append(.record(name: name, repaired)) }
        }
        if lastListing > state.summary.listing {
            // The next listing must be one that no record has been met in.
            var summary = state.summary
            summary.listing = lastListing
            entries.append(.summary(summary))
        }
        return entries
    }
}

extension RecordState {
    fileprivate func repaired(_ isStored: (ContentHandle) -> Bool) -> RecordState {
        var record = self
        if let lost, !isStored(lost.handle) {
            record.lost = nil
            record.isLostRefused = false
        }
        if let known, !isStored(known.handle) { record.forgetKnownVersion() }
        if let base = record.pending?.base, !isStored(base) { record.forgetKnownVersion() }
        if let contested = record.pending?.contested, !isStored(contested) {
            // It is no longer known which fields were edited on an older version.
            record.pending?.contested = nil
            record.forgetKnownVersion()
        }
        if let seen = record.seen, !isStored(seen) { record.seen = nil }
        // An answer to it could neither be told from another device's version nor merged.
        record.sent.removeAll { !isStored($0.handle) || !($0.base.map(isStored) ?? true) }
        if let handle = record.undelivered?.kind.handle, !isStored(handle) { record.undelivered = nil }
        if let seen = record.undelivered?.seen, !isStored(seen) { record.undelivered?.seen = nil }
        return record
    }
}
