import RecordCoding

import struct Foundation.Date

/// Journal entries about what the cloud returned: pages, look-ups, and versions in refused saves.
package enum FetchEntry: Equatable, Sendable {
    /// The cloud returned a version of a record.
    case fetched(RecordKey, type: ExactName, KnownVersion)
    /// The cloud no longer has a record.
    case deletionFetched(RecordKey)
    /// The feed reported changes to these records that could not be read; they must be looked up.
    case lookUpNeeded(ZoneNumber, [ExactName])
    /// The change token after a page, stored in one turn with the page's changes.
    case page(ZoneNumber, token: ChangeToken, isComplete: Bool)
    /// The zone's change token is gone, and a full listing begins.
    case listingBegan(ZoneNumber)
    /// A full listing contained these records unchanged.
    case listed(ZoneNumber, [ExactName])
    /// A fetch reached the end of the feed.
    case completed(Date)
    /// This version of the app can read other schema versions than the one before.
    case readable(ReadableSchema)

    /// Whether the cloud or the next opening would repeat it.
    var isRepeatable: Bool {
        switch self {
        case .fetched, .deletionFetched, .lookUpNeeded, .page, .listed, .completed, .readable: true
        // A call may wait for it.
        case .listingBegan: false
        }
    }
}

extension SyncState {
    mutating func apply(fetching entry: FetchEntry) {
        switch entry {
        case .fetched(let key, let type, let version): applyFetched(key, type, version)
        case .deletionFetched(let key): applyDeletionFetched(key)
        case .lookUpNeeded(let zone, let names):
            for name in names { change(RecordKey(zone: zone, name: name)) { $0.mustLookUp = true } }
        case .page(let zone, let token, let isComplete): applyPage(zone, token, isComplete: isComplete)
        case .listingBegan(let zone): applyListingBegan(zone)
        case .listed(let zone, let names): applyListed(zone, names)
        case .completed(let date): changeSummary { $0.lastFetch = date }
        case .readable(let schema): applyReadable(schema)
        }
    }

    private mutating func applyFetched(_ key: RecordKey, _ type: ExactName, _ version: KnownVersion) {
        let news = nextNews()
        let listing = zone(key.zone).listing
        let version = judged(version, of: type)
        let keepsTags = carriesTags(type)
        change(key, of: type) { record in
            record.listing = listing
            let wasLookedUp = record.mustLookUp
            record.mustLookUp = false
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
            if version.isTooNew { return record.takeTooNew(version, after: readable) }
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

    private mutating func applyDeletionFetched(_ key: RecordKey) {
        change(key) { $0.mustLookUp = false }
        guard let record = records[key] else { return }
        // An old deletion of a record that is about to be created does not matter.
        if record.known == nil, record.lost != nil || record.pending?.base == nil { return }
        // This device deleted the record, or wants to and another device did it first.
        if record.isOwnDeletion { return applyDeletionConfirmed(key) }
        let news = nextNews()
        change(key) { record in
            // A record that this app could never read was never shown.
            let isNews = record.readable != nil || !record.isTooNew || record.isDeletionNews
            let former = record.readableAncestor?.handle
            record.endTooNew()
            record.server = .none
            record.carried = CarriedTags()
            record.sent = []
            if record.pending?.isDeletion == true { record.pending = nil }
            if isNews, record.pending == nil || record.pending?.parked != nil {
                record.tellDeletion(of: former, news)
            } else {
                record.news = nil
            }
        }
    }

    // MARK: Listings

    private mutating func applyListed(_ zone: ZoneNumber, _ names: [ExactName]) {
        let listing = self.zone(zone).listing
        for name in names {
            let key = RecordKey(zone: zone, name: name)
            if records[key] != nil { change(key) { $0.listing = listing } }
        }
    }

    private mutating func applyListingBegan(_ zone: ZoneNumber) {
        changeZone(zone) { zone in
            zone.listing &+= 1
            zone.isListing = true
            zone.token = nil
        }
    }

    private mutating func applyPage(_ zone: ZoneNumber, _ token: ChangeToken, isComplete: Bool) {
        changeZone(zone) { zone in
            zone.token = token
            if isComplete { zone.unfetched = [] }
            guard isComplete, zone.isListing else { return }
            zone.isListing = false
            zone.isPositionLate = false
        }
    }

    /// The known records of a zone that the listing, including its last page, does not contain: they were
    /// deleted.
    ///
    /// Complexity: O(n log n), once for each full listing.
    package func absentFromListing(
        of zone: ZoneNumber,
        except lastPage: some Sequence<RecordKey>
    ) -> [RecordKey] {
        var met = RecordTable<Bool>()
        for key in lastPage { met[key] = true }
        let listing = self.zone(zone).listing
        return sortedKeys(in: zone).filter { key in
            guard let record = records[key], record.known != nil else { return false }
            return record.listing != listing && met[key] == nil
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
