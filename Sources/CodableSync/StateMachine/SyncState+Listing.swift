import RecordCoding

/// Full listings and lost zones: what concerns every record at once.
extension SyncState {
    mutating func applyListed(_ names: [String]) {
        let listing = summary.listing
        for name in names where records[name] != nil {
            change(name) { $0.listing = listing }
        }
    }

    mutating func applyListingBegan() {
        changeSummary { summary in
            summary.listing &+= 1
            summary.isListing = true
            summary.zoneToken = nil
        }
    }

    mutating func applyPage(_ token: ChangeToken, isComplete: Bool) {
        changeSummary { $0.zoneToken = token }
        if isComplete, summary.isListing {
            changeSummary { summary in
                summary.isListing = false
                summary.isPositionLate = false
            }
        }
    }

    mutating func applyDatabaseToken(_ token: ChangeToken?) {
        // What a recovery lists anew had its position lost with the summary's line.
        let knows = knownCount > 0 && !summary.isListing
        changeSummary { summary in
            if summary.databaseToken == nil { summary.isPositionLate = token != nil && knows }
            summary.databaseToken = token
        }
    }

    /// The records that the listing, complete but for its last page, has not met: deleted meanwhile.
    ///
    /// Complexity: O(n log n), once for each full listing.
    package func absentFromListing(except lastPage: some Sequence<String>) -> [String] {
        var met = RecordTable<Bool>()
        for name in lastPage { met[name] = true }
        return records.sortedNames.filter { name in
            guard let record = records[name], record.known != nil else { return false }
            return record.listing != summary.listing && met[name] == nil
        }
    }

    /// The zone is gone, and with it every tag and token.
    mutating func applyZoneLost(_ reason: DatabaseChanges.Deletion.Reason?) {
        changeSummary { summary in
            summary.zoneToken = nil
            summary.isSubscribed = false
            summary.isListing = false
            summary.isPositionLate = false
            summary.zone =
                switch reason {
                case .purged: .purged
                case .encryptedDataReset: .unreadable
                case .deleted, nil: .unknown
                }
        }
        switch reason {
        // The user must be asked first; nothing is changed until then.
        case .purged: break
        // Somebody deleted the zone with its records; edits of this device go into a new one.
        case .deleted: for name in records.sortedNames { forget(name) }
        // The server's copies are unreadable or were lost by nobody's wish: everything goes up again.
        case .encryptedDataReset, nil: for name in records.sortedNames { change(name) { $0.queueAgain() } }
        }
        if reason != .purged { forgetNewestKnown() }
    }

    mutating func applyPurgeResolved(uploadAgain: Bool) {
        // Answered already, while this answer was on its way to the disk: it comes too late, like any later one.
        guard summary.zone == .purged else { return }
        forgetNewestKnown()
        changeSummary { $0.zone = .unknown }
        for name in records.sortedNames {
            if uploadAgain {
                change(name) { $0.queueAgain() }
            } else {
                forget(name)
            }
        }
    }

    /// Nothing is known of the record any more; the app is told where it still shows what was known.
    private mutating func forget(_ name: String) {
        let order = nextDeliveryOrder()
        change(name) { record in
            let isNews = record.lastKnown != nil && !record.isOwnDeletion && !record.isPendingOnTop
            // A deletion, or a model that a conflict made, of which the app has still to be told.
            let isStillNews = record.undelivered?.kind == .deleted || record.isPendingNews
            // A pending deletion stays: another device may create the record again in the next zone.
            record.loseVersions()
            if isNews {
                record.undelivered = Undelivered(kind: .deleted, seen: nil, order: order)
            } else if !isStillNews {
                record.undelivered = nil
            }
        }
    }
}
