/// Repairs a state after damage, when rows may name contents that are lost.
///
/// After damage, the engine fetches everything again. Until then, incomplete information must not lead to
/// wrong decisions: an edit whose base was lost must not look like an edit of a deleted record, nor be
/// compared with a version that is older than its base.
enum StateRepair {
    /// The rows that make a state consistent again.
    ///
    /// - Parameter fold: The readable part of the journal.
    /// - Returns: The rows to store and apply.
    static func rows(for fold: JournalFold) -> [StateRow] {
        var state = fold.state
        return state.recording { repair(&$0, fold) }.rows
    }

    private static func repair(_ state: inout SyncState, _ fold: JournalFold) {
        var listings = ZoneTable<UInt64>()
        for key in state.sortedKeys(of: nil) {
            guard let record = state[key] else { continue }
            listings[key.zone] = max(listings[key.zone] ?? 0, record.listing)
            var repaired = record.repaired(fold.isStored)
            if let reason = fold.lostReason(of: key, repaired) { repaired.pending?.parked = reason }
            if repaired != record {
                state.apply(row: .record(key, type: state.recordType(of: key), repaired))
            }
        }
        for number in listings.numbers {
            var zone = state.zone(number)
            guard let last = listings[number], last > zone.listing else { continue }
            // The next listing needs a number that no record has.
            zone.listing = last
            state.apply(row: .zone(number, zone))
        }
        // With the line about the state as a whole, it is lost whether the app has a loop over `changes`.
        if state.summary.identity == nil, !state.summary.isFollowed { state.startOver() }
        if fold.isSwitchLost {
            // Whom to name is lost, and the app may have another user's changes.
            state.enter(from: nil, switchCount: state.summary.switchCount)
            state.startOver()
        }
        // The rows that said so may be what is damaged.
        if state.summary.signOut == .removed { state.signOut(removing: true) }
    }

    /// The names of records whose edits have no contents.
    static func lostEdits(in fold: JournalFold) -> [String] {
        fold.state.sortedKeys(of: nil).filter { key in
            guard let handle = fold.state[key]?.pending?.handle else { return false }
            return !fold.isStored(handle)
        }.map(\.recordName)
    }
}

extension JournalFold {
    /// Why a change is parked that must not be sent over a version that is too new, if the line about it is
    /// lost.
    fileprivate func lostReason(of key: RecordKey, _ record: RecordState) -> ParkReason? {
        guard record.isTooNew, let last = record.lastKnown, let pending = record.pending,
            pending.parked == nil
        else { return nil }
        let known = state.readableSchema(of: state.recordType(of: key))
        return NewerSchema(found: last.schema, known: known).reasonToPark(isDeletion: pending.isDeletion)
    }
}

extension RecordState {
    fileprivate func repaired(_ isStored: (ContentHandle) -> Bool) -> RecordState {
        var record = self
        if let lost, !isStored(lost.handle) { record.server = .none }
        if let kept, !isStored(kept.handle) { record.kept = nil }
        if let handle = pending?.handle, !isStored(handle) { record.pending = nil }
        if let known, !isStored(known.handle) { record.forgetLatestVersion() }
        if let base = record.pending?.base, !isStored(base) {
            // While the known version is too new, the edit is parked, and not compared with anything.
            if record.isTooNew { record.pending?.on.forgetVersion() } else { record.forgetKnownVersion() }
        }
        if let lost = record.pending?.on.lost, !isStored(lost.version) {
            record.pending?.on.origin = .nothing
        }
        if let contested = record.pending?.on.contested, !isStored(contested) {
            // It is unknown which fields were edited on an older version.
            record.forgetKnownVersion()
        }
        let sides = record.pending?.on.sides ?? []
        if !sides.flatMap(\.named).allSatisfy(isStored) {
            // It is unknown what the draft must leave alone.
            record.pending?.on = EditBase(nil)
            record.forgetKnownVersion()
        }
        record.pending?.earlier.removeAll { !isStored($0) }
        record.carried.keep(isStored)
        // Without its contents, a saved version could not be recognised as this device's own, nor merged.
        record.sent.removeAll { !isStored($0.handle) || !($0.base.map(isStored) ?? true) }
        if let former = record.server.deleted, !isStored(former) { record.server = .deleted(nil) }
        return record
    }
}
