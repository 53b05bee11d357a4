import RecordCoding

extension LedgerDraft {
    mutating func modifyRecordZones(
        saving zones: [RecordZone],
        deleting ids: [ZoneID]
    ) throws(CloudError) -> ModifyZonesResult {
        try checkCount(zones.count + ids.count)
        try checkDistinct((zones.map(\.zoneID) + ids).map(key.normalized))
        var result = ModifyZonesResult()
        var count = head.zoneCount
        for zone in zones {
            result.saveResults[zone.zoneID] = Result { () throws(CloudError) in
                try save(zone, count: &count)
                return zone
            }
        }
        for id in ids {
            do throws(CloudError) {
                try deleteZone(id)
                result.deleteResults[id] = .some(nil)
            } catch {
                result.deleteResults[id] = .some(error)
            }
        }
        return result
    }

    private mutating func save(_ zone: RecordZone, count: inout Int) throws(CloudError) {
        let id = key.normalized(zone.zoneID)
        guard key.scope == .private, id.ownerName == ZoneID.currentUserOwnerName else {
            throw CloudError(.permissionFailure, message: "Only the owner of a zone can make it.")
        }
        if id == .default { return }
        if limits.checksContents {
            do throws(RecordCodingError) {
                try RecordLimits.checkZoneName(id.zoneName)
            } catch {
                throw CloudError(.invalidArguments, message: String(describing: error))
            }
        }
        if let old = rows.zone(id) {
            guard let removal = old.removal else { return }
            if !removal.canBeRecreated { throw removal.error }
        }
        guard count < limits.maximumZones else {
            throw CloudError(.limitExceeded, message: "There are \(limits.maximumZones) zones already.")
        }
        count += 1
        add(.zoneCreated(id))
    }

    private mutating func deleteZone(_ zoneID: ZoneID) throws(CloudError) {
        let id = key.normalized(zoneID)
        guard id.zoneName != ZoneID.defaultZoneName else {
            throw CloudError(.invalidArguments, message: "The default zone cannot be deleted.")
        }
        if id.ownerName == ZoneID.currentUserOwnerName,
            let removal = rows.zone(id)?.removal, !removal.canBeRecreated
        {
            // Other devices must still learn why the zone was removed.
            return remove(id, reason: removal.reason, canBeRecreated: true)
        }
        remove(try usableZone(id), reason: .deleted, canBeRecreated: true)
    }

    mutating func removeZone(_ id: ZoneID, reason: DatabaseChanges.Deletion.Reason) throws(CloudError) {
        let id = try usableZone(id)
        guard id != .default else {
            throw CloudError(.invalidArguments, message: "The default zone cannot be removed.")
        }
        let isReset = reason == .encryptedDataReset
        remove(id, reason: reason, canBeRecreated: !(isReset && options.resetZonesMustBeDeleted))
    }

    private mutating func remove(
        _ zoneID: ZoneID,
        reason: DatabaseChanges.Deletion.Reason,
        canBeRecreated: Bool
    ) {
        add(.zoneRemoved(zoneID, reason: reason, canBeRecreated: canBeRecreated))
    }

    func recordZones(for ids: [ZoneID]) -> [ZoneID: Result<RecordZone, CloudError>] {
        var results: [ZoneID: Result<RecordZone, CloudError>] = [:]
        for id in ids {
            results[id] = Result { () throws(CloudError) in
                _ = try usableZone(id)
                return RecordZone(zoneID: id)
            }
        }
        return results
    }

    func allZones() -> [RecordZone] {
        let custom = rows.zones.map(\.zoneID).filter { $0 != .default }.sorted { $0.precedes($1) }
        let own: [ZoneID] = key.scope == .shared ? [] : [.default]
        return (own + custom).map { RecordZone(zoneID: $0) }
    }

    mutating func expireTokens(of zoneID: ZoneID?) throws(CloudError) {
        if let zoneID { return add(.tokensExpired(zone: try usableZone(zoneID))) }
        add(.tokensExpired(zone: nil))
        for zoneID in rows.zones.map(\.zoneID).sorted(by: { $0.precedes($1) }) {
            add(.tokensExpired(zone: zoneID))
        }
    }

    mutating func modifySubscriptions(
        saving subscriptions: [CloudSubscription],
        deleting ids: [String]
    ) throws(CloudError) -> ModifySubscriptionsResult {
        try checkDistinct((subscriptions.map(\.subscriptionID) + ids).map(ExactName.init))
        var result = ModifySubscriptionsResult()
        for subscription in subscriptions {
            result.saveResults[subscription.subscriptionID] = Result { () throws(CloudError) in
                try check(subscription)
                add(.subscriptionSaved(subscription))
                return subscription
            }
        }
        for id in ids {
            let exists = rows.subscription(id) != nil
            if exists { add(.subscriptionDeleted(id)) }
            result.deleteResults[id] = .some(exists ? nil : CloudError(.unknownItem))
        }
        return result
    }

    func allSubscriptions() -> [CloudSubscription] {
        rows.subscriptions.sorted { $0.subscriptionID.precedes($1.subscriptionID) }
    }

    private func check(_ subscription: CloudSubscription) throws(CloudError) {
        guard !subscription.subscriptionID.isEmpty else {
            throw CloudError(.invalidArguments, message: "The subscription has no ID.")
        }
        guard case .zone(let id) = subscription.kind else { return }
        guard try usableZone(id) != .default else {
            throw CloudError(.invalidArguments, message: "The default zone cannot be watched.")
        }
    }
}
