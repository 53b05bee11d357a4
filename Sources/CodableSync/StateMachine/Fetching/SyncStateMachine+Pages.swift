import RecordCoding

/// Converting a page to journal entries.
extension SyncStateMachine {
    /// The entries for a page's changes and its change token; none if the page says nothing new.
    mutating func entries(for page: FetchedPage) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        var unchanged: [RecordKey] = []
        // Records that could not be read or may be outdated; they are looked up.
        var doubtful = page.failed
        for record in page.records {
            let known = state[record.key]?.known
            if known?.isSameVersion(as: record.version) == true {
                unchanged.append(record.key)
            } else if known?.isNewer(than: record.version) == true {
                // Either the feed lags behind, or the date is unreliable.
                doubtful.append(record.key)
            } else {
                entries += self.entries(forNew: record)
            }
        }
        for key in page.deletions {
            let isNew = state[key] == nil && page.records.contains { $0.key == key }
            entries += isNew ? [.fetching(.deletionFetched(key))] : entriesForDeletion(of: key)
        }
        for key in doubtful { lookUp(key) }
        if !doubtful.isEmpty {
            entries.append(.fetching(.lookUpNeeded(zone.number, doubtful.map(\.name))))
        }
        context.counts.run.ignored += page.ignored
        if state.zone(zone.number).isListing {
            // Records to be looked up are in the zone, too.
            let met = unchanged + doubtful
            if !met.isEmpty { entries.append(.fetching(.listed(zone.number, met.map(\.name)))) }
            if !page.moreComing { entries += entriesForAbsent(in: page) }
        }
        return entries + entriesForEnd(of: page, hasChanges: !entries.isEmpty)
    }

    /// The entries for a version that is new to this device.
    private mutating func entries(forNew record: FetchedRecord) -> [JournalEntry] {
        // It may be this device's own save whose response was lost; the reconciler finds out.
        if state[record.key]?.sent.isEmpty != false { context.counts.countForeignChange() }
        // A pending deletion discards another device's edit, unless that parks it.
        let isTooNew = state.isTooNew(record.version, of: record.recordType)
        if !isTooNew, state[record.key]?.hasDeletionToSend == true {
            context.log.events.append(.discarded(name: record.name, record.version.handle, .deletion))
        }
        return context.fetched(record.key, record.recordType, record.version)
    }

    private mutating func entriesForDeletion(of key: RecordKey) -> [JournalEntry] {
        guard state[key] != nil else { return [] }
        context.countForeignDeletion(key)
        return [.fetching(.deletionFetched(key))]
    }

    /// Deletions of the known records that a complete listing does not contain.
    private mutating func entriesForAbsent(in lastPage: FetchedPage) -> [JournalEntry] {
        let met = lastPage.records.map(\.key) + lastPage.failed
        return state.absentFromListing(of: zone.number, except: met).flatMap { entriesForDeletion(of: $0) }
    }

    private func entriesForEnd(of page: FetchedPage, hasChanges: Bool) -> [JournalEntry] {
        // A fetch without changes writes nothing.
        let known = state.zone(zone.number)
        let isEnd = !page.moreComing && known.isListing
        if !hasChanges, page.token == known.token, !isEnd { return [] }
        let isComplete = !page.moreComing
        let entry = JournalEntry.fetching(.page(zone.number, token: page.token, isComplete: isComplete))
        return isComplete ? [entry, .fetching(.completed(context.now.wall))] : [entry]
    }
}
