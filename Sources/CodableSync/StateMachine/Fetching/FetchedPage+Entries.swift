import RecordCoding

/// What a page means for the state.
extension FetchedPage {
    /// The entries for the page's changes and its change token; none if the page says nothing new.
    func entries(_ context: inout SyncContext) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        var unchanged: [String] = []
        // Records that could not be read or may be outdated; they are looked up.
        var doubtful = failed
        for record in records {
            let known = context.state[record.name]?.known
            if known?.isSameVersion(as: record.version) == true {
                unchanged.append(record.name)
            } else if known?.isNewer(than: record.version) == true {
                // Either the feed lags behind, or the date is unreliable.
                doubtful.append(record.name)
            } else {
                entries.append(entry(for: record, &context))
            }
        }
        for name in deletions {
            let isNew = context.state[name] == nil && records.contains { $0.name == name }
            entries += isNew ? [.fetchedDeletion(name: name)] : deletion(of: name, &context)
        }
        for name in doubtful { context.tell(.lookUp(name)) }
        if !doubtful.isEmpty { entries.append(.unread(doubtful)) }
        context.counts.run.ignored += ignored
        if context.state.summary.isListing {
            // Records to be looked up are in the zone, too.
            let met = unchanged + doubtful
            if !met.isEmpty { entries.append(.listed(met)) }
            if !moreComing { entries += deletionsOfAbsent(&context) }
        }
        return entries + end(hasChanges: !entries.isEmpty, context)
    }

    /// The entry for a version that is new to this device.
    private func entry(for record: FetchedRecord, _ context: inout SyncContext) -> JournalEntry {
        // It may be this device's own save whose response was lost; the reconciler finds out.
        if context.state[record.name]?.sent.isEmpty != false { context.counts.countForeignChange() }
        // A pending deletion discards another device's edit.
        if let pending = context.state[record.name]?.pending, pending.isDeletion, pending.parked == nil {
            context.journal.events.append(.discarded(name: record.name, record.version.handle, .deletion))
        }
        return .fetched(name: record.name, record.version)
    }

    private func deletion(of name: String, _ context: inout SyncContext) -> [JournalEntry] {
        guard context.state[name] != nil else { return [] }
        context.countForeignDeletion(name)
        return [.fetchedDeletion(name: name)]
    }

    /// Deletions of the known records that a complete listing does not contain.
    private func deletionsOfAbsent(_ context: inout SyncContext) -> [JournalEntry] {
        let absent = context.state.absentFromListing(except: records.map(\.name) + failed)
        return absent.flatMap { deletion(of: $0, &context) }
    }

    private func end(hasChanges: Bool, _ context: SyncContext) -> [JournalEntry] {
        // A fetch without changes writes nothing.
        let isEnd = !moreComing && context.state.summary.isListing
        if !hasChanges, token == context.state.summary.zoneToken, !isEnd { return [] }
        var entries: [JournalEntry] = [.page(token: token, isComplete: !moreComing)]
        if !moreComing { entries.append(.fetchCompleted(context.now.wall)) }
        return entries
    }
}
