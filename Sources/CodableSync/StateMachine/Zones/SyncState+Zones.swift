import RecordCoding

/// Zones, and their loss, which affects every record in them at once.
extension SyncState {
    /// Gives a zone a number, which identifies it from now on.
    package mutating func register(_ zoneID: ZoneID, as number: ZoneNumber) {
        promise()
        changeZone(number) { $0.zoneID = zoneID }
    }

    /// Notes that a zone exists.
    package mutating func noteReady(_ number: ZoneNumber) {
        promise()
        changeZone(number) { $0.stage = .ready }
    }

    /// Notes that a zone is subscribed to, which the cloud would repeat.
    mutating func noteSubscribed(to number: ZoneNumber) {
        changeZone(number) { $0.isSubscribed = true }
    }

    /// Sets the position in the database's change feed.
    package mutating func setDatabaseToken(_ token: ChangeToken?) {
        promise()
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

    /// Notes that a zone is lost, and with it every change tag and token.
    ///
    /// - Parameters:
    ///   - number: The zone.
    ///   - reason: The reason if it is known.
    package mutating func lose(_ number: ZoneNumber, _ reason: DatabaseChanges.Deletion.Reason?) {
        promise()
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

    /// Does what the app has decided about its data after the user purged the cloud's, in all purged zones.
    mutating func resolvePurge(uploadAgain: Bool) {
        promise()
        // Only the first answer to a purge has an effect.
        for number in zones.numbers where zone(number).stage == .purged {
            lose(number, uploadAgain ? nil : .deleted)
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
                record.tellServerValue(news)
            } else if !isStillNews {
                record.news = nil
            }
        }
    }
}
