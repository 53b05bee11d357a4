import RecordCoding

/// Full listings and lost zones, which affect every record at once.
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
        // During a listing after a recovery, the position is only missing because the summary's line was
        // lost.
        let knows = knownCount > 0 && !summary.isListing
        changeSummary { summary in
            if summary.databaseToken == nil { summary.isPositionLate = token != nil && knows }
            summary.databaseToken = token
        }
    }

    /// The known records that the listing, including its last page, does not contain: they were deleted.
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

    /// Applies the loss of the zone, with which every change tag and token is lost.
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
        // The app must decide first; nothing changes until then.
        case .purged: break
        // Another device deleted the zone with its records; this device's edits go into a new zone.
        case .deleted: for name in records.sortedNames { forget(name) }
        // The server's copies are unreadable or were lost unintentionally: everything is uploaded again.
        case .encryptedDataReset, nil: for name in records.sortedNames { change(name) { $0.queueAgain() } }
        }
        if reason != .purged { forgetNewestKnown() }
    }

    mutating func applyPurgeResolved(uploadAgain: Bool) {
        // Only the first answer to a purge has an effect.
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

    /// Forgets the versions of a record, and delivers its deletion if the app still shows a version.
    private mutating func forget(_ name: String) {
        let order = nextDeliveryOrder()
        change(name) { record in
            let isNews = record.lastKnown != nil && !record.isOwnDeletion && !record.isPendingOnTop
            // A deletion, or a model made by a conflict, that the app has not accepted yet.
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
