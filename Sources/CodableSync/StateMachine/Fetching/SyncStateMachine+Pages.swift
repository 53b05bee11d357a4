import RecordCoding

/// What a page changes.
extension SyncStateMachine {
    /// Receives a page's changes and its change token; one that says nothing new changes nothing.
    mutating func receiveChanges(of page: FetchedPage) {
        let before = state
        var unchanged: [RecordKey] = []
        // Records that could not be read or may be outdated; they are looked up.
        var doubtful = page.failed
        for record in page.records {
            let known = before[record.key]?.known
            if known?.isSameVersion(as: record.version) == true {
                unchanged.append(record.key)
            } else if known?.isNewer(than: record.version) == true {
                // Either the feed lags behind, or the date is unreliable.
                doubtful.append(record.key)
            } else {
                receive(new: record)
            }
        }
        for key in page.deletions where state[key] != nil {
            // One that came and went is no news.
            context.receiveDeletion(of: key, isNews: before[key] != nil)
        }
        for key in doubtful { lookUp(key) }
        context.state.noteUnread(doubtful)
        context.counts.run.ignored += page.ignored
        if before.zone(zone.number).isListing {
            // Records to be looked up are in the zone, too.
            context.state.noteListed(unchanged + doubtful)
            if !page.moreComing { receiveAbsences() }
        }
        endPage(page, hasChanges: state.image?.changeCount != before.image?.changeCount)
    }

    /// Receives a version that is new to this device.
    private mutating func receive(new record: FetchedRecord) {
        if context.receiveLateCreation(record) { return }
        // It may be this device's own save whose response was lost; the reconciler finds out.
        if state[record.key]?.sent.isEmpty != false { context.counts.countForeignChange() }
        // A pending deletion discards another device's edit, unless that parks it.
        let isTooNew = state.isTooNew(record.version, of: record.recordType)
        if !isTooNew, state[record.key]?.hasDeletionToSend == true {
            context.emit(.discarded(name: record.name, record.version.handle, .deletion))
        }
        context.receive(record.key, record.recordType, record.version)
    }

    /// Receives the deletions of the known records that a complete listing does not contain.
    private mutating func receiveAbsences() {
        for key in state.absentFromListing(of: zone.number) {
            context.receiveDeletion(of: key)
        }
    }

    private mutating func endPage(_ page: FetchedPage, hasChanges: Bool) {
        // A fetch without changes writes nothing.
        let known = state.zone(zone.number)
        let isEnd = !page.moreComing && known.isListing
        if !hasChanges, page.token == known.token, !isEnd { return }
        context.state.endPage(of: zone.number, at: page.token, isComplete: !page.moreComing)
        if !page.moreComing { context.state.endFetch(at: context.now.wall) }
    }
}
