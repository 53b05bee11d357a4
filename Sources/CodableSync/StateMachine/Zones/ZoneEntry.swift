import RecordCoding

/// Journal entries about zones and the database's change feed.
package enum ZoneEntry: Equatable, Sendable {
    /// A zone got a number, which identifies it in all later entries.
    case registered(ZoneNumber, ZoneID)
    /// The zone exists.
    case ready(ZoneNumber)
    /// The position in the database's change feed.
    case databaseToken(ChangeToken?)
    /// The zone is subscribed to.
    case subscribed(ZoneNumber)
    /// The zone is lost, with the reason if it is known.
    case lost(ZoneNumber, DatabaseChanges.Deletion.Reason?)
    /// The app decided what happens to its data after the user purged the cloud's, in all purged zones.
    case purgeResolved(uploadAgain: Bool)

    /// Whether the cloud would repeat it.
    var isRepeatable: Bool {
        switch self {
        case .subscribed: true
        case .registered, .ready, .databaseToken, .lost, .purgeResolved: false
        }
    }
}

/// Zones, and their loss, which affects every record in them at once.
extension SyncState {
    mutating func apply(zones entry: ZoneEntry) {
        switch entry {
        case .registered(let number, let zoneID): changeZone(number) { $0.zoneID = zoneID }
        case .ready(let number): changeZone(number) { $0.stage = .ready }
        case .databaseToken(let token): applyDatabaseToken(token)
        case .subscribed(let number): changeZone(number) { $0.isSubscribed = true }
        case .lost(let number, let reason): applyLost(number, reason)
        case .purgeResolved(let uploadAgain): applyPurgeResolved(uploadAgain: uploadAgain)
        }
    }

    private mutating func applyDatabaseToken(_ token: ChangeToken?) {
        if summary.databaseToken == nil {
            for number in zonesInUse {
                // During a listing after a recovery, the position is only missing because the summary's line
                // was lost.
                let knows = knownCount(in: number) > 0 && !zone(number).isListing
                changeZone(number) { $0.isPositionLate = token != nil && knows }
            }
        }
        changeSummary { $0.databaseToken = token }
    }

    /// Applies the loss of a zone, with which every change tag and token is lost.
    private mutating func applyLost(_ number: ZoneNumber, _ reason: DatabaseChanges.Deletion.Reason?) {
        changeZone(number) { zone in
            zone.token = nil
            zone.isSubscribed = false
            zone.isListing = false
            zone.isPositionLate = false
            zone.stage =
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
        case .deleted: for key in sortedKeys(in: number) { forget(key) }
        // The server's copies are unreadable or were lost unintentionally: everything is uploaded again.
        case .encryptedDataReset, nil:
            for key in sortedKeys(in: number) { change(key) { $0.queueAgain() } }
        }
        if reason != .purged { forgetNewestKnown(in: number) }
    }

    private mutating func applyPurgeResolved(uploadAgain: Bool) {
        // Only the first answer to a purge has an effect.
        let purged = zones.numbers.filter { zone($0).stage == .purged }
        for number in purged {
            forgetNewestKnown(in: number)
            changeZone(number) { $0.stage = .unknown }
            for key in sortedKeys(in: number) {
                if uploadAgain { change(key) { $0.queueAgain() } } else { forget(key) }
            }
        }
    }

    /// The records of a zone, in order.
    ///
    /// Complexity: O(n log n) in all records; for listings, not for changes.
    func sortedKeys(in zone: ZoneNumber) -> [RecordKey] { records.sortedKeys.filter { $0.zone == zone } }

    /// Forgets the versions of a record, and delivers its deletion if the app still shows a version.
    private mutating func forget(_ key: RecordKey) {
        let news = nextNews()
        change(key) { record in
            let isShown = record.readable != nil && !record.isOwnDeletion && !record.isPendingOnTop
            let isNews = isShown || record.isDeletionNews
            // A model made by a conflict that the app does not know yet.
            let isStillNews = record.isPendingNews
            // A pending deletion stays: another device may create the record again in the next zone.
            record.endTooNew()
            record.loseVersions()
            if isNews {
                record.tellDeletion(of: nil, news)
            } else if !isStillNews {
                record.news = nil
            }
        }
    }
}
