import RecordCoding

/// Converting a page to journal entries.
extension FetchedPage {
    /// The entries for the page's changes and its change token; none if the page says nothing new.
    func entries(of zone: ZoneNumber, _ context: inout SyncContext) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        var unchanged: [RecordKey] = []
        // Records that could not be read or may be outdated; they are looked up.
        var doubtful = failed
        for record in records {
            let known = context.state[record.key]?.known
            if known?.isSameVersion(as: record.version) == true {
                unchanged.append(record.key)
            } else if known?.isNewer(than: record.version) == true {
                // Either the feed lags behind, or the date is unreliable.
                doubtful.append(record.key)
            } else {
                entries += self.entries(for: record, &context)
            }
        }
        for key in deletions {
            let isNew = context.state[key] == nil && records.contains { $0.key == key }
            entries += isNew ? [.fetching(.deletionFetched(key))] : deletion(of: key, &context)
        }
        for key in doubtful { context.tell(.lookUp(key)) }
        if !doubtful.isEmpty { entries.append(.fetching(.lookUpNeeded(zone, doubtful.map(\.name)))) }
        context.counts.run.ignored += ignored
        if context.state.zone(zone).isListing {
            // Records to be looked up are in the zone, too.
            let met = unchanged + doubtful
            if !met.isEmpty { entries.append(.fact(.listed(zone, met.map(\.name)))) }
            if !moreComing { entries += deletionsOfAbsent(in: zone, &context) }
        }
        return entries + end(of: zone, hasChanges: !entries.isEmpty, context)
    }

    /// The entries for a version that is new to this device.
    private func entries(for record: FetchedRecord, _ context: inout SyncContext) -> [JournalEntry] {
        // It may be this device's own save whose response was lost; the reconciler finds out.
        if context.state[record.key]?.sent.isEmpty != false { context.counts.countForeignChange() }
        // A pending deletion discards another device's edit, unless that parks it.
        let isTooNew = context.state.isTooNew(record.version, of: record.recordType)
        if !isTooNew, context.state[record.key]?.hasDeletionToSend == true {
            context.log.events.append(.discarded(name: record.name, record.version.handle, .deletion))
        }
        return context.fetched(record.key, record.recordType, record.version)
    }

    private func deletion(of key: RecordKey, _ context: inout SyncContext) -> [JournalEntry] {
        guard context.state[key] != nil else { return [] }
        context.countForeignDeletion(key)
        return [.fetching(.deletionFetched(key))]
    }

    /// Deletions of the known records that a complete listing does not contain.
    private func deletionsOfAbsent(in zone: ZoneNumber, _ context: inout SyncContext) -> [JournalEntry] {
        let absent = context.state.absentFromListing(of: zone, except: records.map(\.key) + failed)
        return absent.flatMap { deletion(of: $0, &context) }
    }

    private func end(of zone: ZoneNumber, hasChanges: Bool, _ context: SyncContext) -> [JournalEntry] {
        // A fetch without changes writes nothing.
        let state = context.state.zone(zone)
        let isEnd = !moreComing && state.isListing
        if !hasChanges, token == state.token, !isEnd { return [] }
        var entries: [JournalEntry] = [.fetching(.page(zone, token: token, isComplete: !moreComing))]
        if !moreComing { entries.append(.fetching(.completed(context.now.wall))) }
        return entries
    }
}
