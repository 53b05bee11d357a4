import RecordCoding

import struct Foundation.Date

/// What the cloud returns: pages, look-ups, and versions in refused saves. The cloud or the next opening repeats it.
extension SyncState {
    /// Notes a version of a record that the cloud returned.
    package mutating func receive(_ key: RecordKey, of type: ExactName, _ version: KnownVersion) {
        let news = nextNews()
        let listing = zone(key.zone).listing
        let version = judged(version, of: type)
        let keepsTags = carriesTags(type)
        change(key, of: type) { record in
            record.listing = listing
            let wasLookedUp = record.mustLookUp
            record.mustLookUp = false
            record.late.noteThere()
            // What the cloud has now is not what was to be deleted again.
            if record.pending?.isRepetition == true { record.pending = nil }
            if let known = record.known {
                if known.isSameVersion(as: version), wasLookedUp {
                    record.takeCopy(of: version, news)
                }
                guard !known.isSameVersion(as: version), !known.isNewer(than: version) else { return }
            }
            if let lost = record.lost, lost.hash == version.hash, lost.isTooNew == version.isTooNew {
                return record.confirmLost(as: version, keepsTags: keepsTags, news)
            }
            let (readable, isLost) = (record.readable, record.lost != nil)
            // Another device has uploaded its own version. If there is no edit, the lost version becomes one.
            if !version.isTooNew { record.unparkTooNew() }
            record.queueLost()
            if version.isTooNew {
                // What reads show stays.
                record.kept = readable
                record.server = .known(version)
                return
            }
            let former = isLost ? nil : readable
            let isSame = former?.hash == version.hash
            let isOwn = isSame ? true : record.sent.isEmpty ? false : nil
            record.replaceKnown(by: version, isOwn: isOwn, keepsTags: keepsTags)
            record.kept = nil
            if let former, isSame {
                // Saved without a change: what was based on the former version is now based on this one.
                return record.repoint(from: former.handle, to: version.handle)
            }
            record.tellNews(news)
        }
    }

    /// Receives a record that a late creation of this device has made behind its deletion.
    ///
    /// It is deleted again; an upload that the app has made since replaces it.
    ///
    /// - Parameters:
    ///   - found: What the cloud has now.
    ///   - date: The date of now.
    /// - Returns: Whether it is such a record.
    package mutating func receiveLateCreation(_ found: FetchedRecord, at date: Date) -> Bool {
        let version = judged(found.version, of: found.recordType)
        if let record = records[found.key], let known = record.known, !record.isTooNew, !version.isTooNew,
            record.late.include(version, edited: found.edited, insteadOf: known)
        {
            // Something has deleted the known version before.
            if record.late.mayBeDeleted(at: date), record.pending?.isDeletion != true {
                return queueLatest(over: version, at: found)
            }
            receiveDeletion(of: found.key)
        }
        guard let record = records[found.key], record.known == nil, !version.isTooNew,
            record.late.include(version, edited: found.edited)
        else { return false }
        // It follows a late deletion.
        if record.lost != nil { return queueLatest(over: version, at: found) }
        guard record.pending.map({ $0.isRepetition || (!$0.isDeletion && $0.on == EditBase(nil)) }) ?? true
        else { return false }
        promise()
        let listing = zone(found.key.zone).listing
        change(found.key, of: found.recordType) { record in
            record.mustLookUp = false
            guard record.pending?.handle != nil else {
                record.pending = LocalChange(kind: .delete, edited: found.edited, base: nil)
                record.pending?.isRepetition = true
                return
            }
            record.late.noteThere()
            record.listing = listing
            record.server = .known(version)
            record.pending?.on.move(to: version.handle)
        }
        return true
    }

    /// Receives the deletion of a record that this device has deleted some minutes ago, and that has been uploaded since.
    ///
    /// It may be a request of this device that was given up, so the record is uploaded again.
    ///
    /// - Parameters:
    ///   - key: The record.
    ///   - date: The date of now.
    /// - Returns: Whether it is such a record; nothing has changed otherwise.
    package mutating func receiveLateDeletion(of key: RecordKey, at date: Date) -> Bool {
        guard let record = records[key], record.known != nil, record.pending?.isDeletion != true,
            !record.isOwnDeletion, record.late.mayBeDeleted(at: date)
        else { return false }
        promise()
        change(key) { record in
            record.mustLookUp = false
            record.late.noteDeleted(record.known)
            record.late.noteDeletionEnded()
            // Before any edit, whose fields are laid over it.
            let late = record.late
            record.queueAgain()
            record.late = late
        }
        return true
    }

    /// Queues the latest version, or the edit of it, to be uploaded over a late creation.
    ///
    /// - Returns: Whether it is queued; a parked edit waits for the app, and says what it is based on.
    private mutating func queueLatest(over version: KnownVersion, at found: FetchedRecord) -> Bool {
        guard let record = records[found.key], let latest = record.lastKnown, !latest.isTooNew,
            record.pending?.parked == nil,
            record.pending.map({ $0.base == latest.handle && !$0.isUndecided }) ?? true
        else { return false }
        promise()
        let listing = zone(found.key.zone).listing
        change(found.key, of: found.recordType) { record in
            record.mustLookUp = false
            if record.lost == nil { record.late.noteDeletionEnded() }
            record.listing = listing
            record.server = .known(version)
            if record.pending == nil {
                let kind = LocalChange.Kind.save(latest.handle, size: latest.size)
                record.pending = LocalChange(kind: kind, edited: latest.modified, base: version.handle)
            } else {
                record.pending?.on.move(to: version.handle)
            }
        }
        return true
    }

    /// Notes that the cloud no longer has a record.
    package mutating func receiveDeletion(of key: RecordKey) {
        change(key) { $0.mustLookUp = false }
        guard let record = records[key] else { return }
        // An old deletion of a record that is about to be created does not matter.
        if record.known == nil, record.lost != nil || record.pending?.base == nil { return }
        // This device deleted the record, or wants to and another device did it first.
        if record.isOwnDeletion { return confirmDeletion(of: key) }
        let news = nextNews()
        change(key) { record in
            // A record that this app could never read was never shown.
            let isNews = record.readable != nil || !record.isTooNew || record.isDeletionNews
            // A version of a lost zone can be no ancestor.
            let former = record.lost == nil ? record.readable?.handle : nil
            record.late.noteDeleted(record.lastKnown)
            record.endTooNew()
            record.server = .none
            record.carried = CarriedTags()
            record.sent = []
            if record.pending?.isDeletion == true { record.pending = nil }
            if isNews, record.pending == nil || record.pending?.parked != nil {
                record.tellServerValue(news, over: former)
            } else {
                record.news = nil
            }
        }
    }

    /// Notes that the feed reported changes to these records that could not be read.
    package mutating func noteUnread(_ keys: [RecordKey]) {
        for key in keys { change(key) { $0.mustLookUp = true } }
    }

    /// Notes that a fetch has reached the end of the feed.
    package mutating func endFetch(at date: Date) { changeSummary { $0.lastFetch = date } }

    // MARK: Listings

    /// Notes that a full listing contains these records unchanged.
    package mutating func noteListed(_ keys: [RecordKey]) {
        for key in keys where records[key] != nil {
            let listing = zone(key.zone).listing
            change(key) { $0.listing = listing }
        }
    }

    /// Begins a full listing of a zone, whose change token is gone.
    package mutating func beginListing(of zone: ZoneNumber) {
        // A call may wait for it.
        promise()
        changeZone(zone) { zone in
            zone.listing &+= 1
            zone.isListing = true
            zone.token = nil
        }
    }

    /// Sets the change token behind a page.
    ///
    /// - Parameters:
    ///   - zone: The zone.
    ///   - token: The token.
    ///   - isComplete: Whether it was the last page.
    package mutating func endPage(of zone: ZoneNumber, at token: ChangeToken, isComplete: Bool) {
        changeZone(zone) { zone in
            zone.token = token
            if isComplete { zone.unfetched = [] }
            guard isComplete, zone.isListing else { return }
            zone.isListing = false
            zone.isPositionLate = false
        }
    }

    /// The known records of a zone that the listing does not contain: they were deleted.
    ///
    /// Complexity: O(n log n), once for each full listing.
    package func absentFromListing(of zone: ZoneNumber) -> [RecordKey] {
        let listing = self.zone(zone).listing
        return sortedKeys(in: zone).filter { key in
            guard let record = records[key], record.known != nil else { return false }
            return record.listing != listing
        }
    }
}

extension KnownVersion {
    /// Whether both have the same change tag; two versions without a tag are never the same.
    package func isSameVersion(as other: KnownVersion) -> Bool {
        !changeTag.isEmpty && changeTag == other.changeTag
    }

    /// Whether this version is newer by the server's clock; false if either has no date.
    package func isNewer(than other: KnownVersion) -> Bool {
        guard let modified, let otherDate = other.modified else { return false }
        return modified > otherDate
    }
}
