import RecordCoding

/// Subscriptions of zones, the only ones that the services are certain to have.
///
/// A subscription to the database is one for each of its zones, whose IDs are the subscription's with the zone's
/// name behind it. Zones that are created later are not part of it.
extension CloudKitWebDatabase {
    /// Creates and deletes subscriptions.
    ///
    /// - Parameters:
    ///   - subscriptionsToSave: The subscriptions to create.
    ///   - subscriptionIDsToDelete: The IDs of the subscriptions to delete.
    /// - Returns: A result for each subscription; that of one to the database is the first failure for a zone.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func modifySubscriptions(
        saving subscriptionsToSave: [CloudSubscription],
        deleting subscriptionIDsToDelete: [String]
    ) async throws -> ModifySubscriptionsResult {
        var result = ModifySubscriptionsResult()
        if subscriptionsToSave.isEmpty, subscriptionIDsToDelete.isEmpty { return result }
        var saves: [WebSubscription] = []
        let database = ofOneUser
        for subscription in subscriptionsToSave {
            switch subscription.kind {
            case .zone(let zoneID): saves.append(WebSubscription(subscription.subscriptionID, zoneID))
            case .database:
                let zones = try WebResponse.zones(await database.send("zones/list", WebRequestBody.nothing))
                for zone in zones where zone.zoneID.zoneName != ZoneID.defaultZoneName && zone.error == nil {
                    saves.append(WebSubscription(ofDatabase: subscription.subscriptionID, zone.zoneID))
                }
            }
        }
        let existing = subscriptionIDsToDelete.isEmpty ? [] : try await database.subscriptions()
        let deletions = existing.filter { subscriptionIDsToDelete.contains($0.publicID) }
        let missing = subscriptionIDsToDelete.filter { id in !existing.contains { $0.publicID == id } }
        var errors: [(id: String, error: CloudError?)] = []
        if !saves.isEmpty || !deletions.isEmpty {
            let body = try WebRequestBody.modifySubscriptions(saving: saves, deleting: deletions.map(\.id))
            errors = try WebResponse.subscriptions(
                await database.send("subscriptions/modify", body, isChange: true)
            )
        }
        func error(of id: String) -> CloudError? {
            errors.first { $0.id == id }.map(\.error) ?? .malformed("subscriptions")
        }
        for subscription in subscriptionsToSave {
            let parts = saves.filter { $0.publicID == subscription.subscriptionID }
            // Uncertain: whether creating one that another device has created is refused.
            var failure = parts.lazy.compactMap { error(of: $0.id) }.first { $0.code != .serverRecordChanged }
            if parts.isEmpty { failure = CloudError(.zoneNotFound) }
            result.saveResults[subscription.subscriptionID] =
                failure.map { .failure($0) } ?? .success(subscription)
        }
        for id in subscriptionIDsToDelete where !missing.contains(id) {
            let parts = deletions.filter { $0.publicID == id }
            result.deleteResults[id] = .some(parts.lazy.compactMap { error(of: $0.id) }.first)
        }
        for id in missing { result.deleteResults[id] = CloudError(.unknownItem) }
        return result
    }

    /// Lists the subscriptions.
    ///
    /// - Returns: The subscriptions to zones, those of the database as one.
    /// - Throws: ``CloudError`` if the request failed.
    public func allSubscriptions() async throws -> [CloudSubscription] {
        var all: [CloudSubscription] = []
        for subscription in try await subscriptions() {
            let id = subscription.publicID
            guard !all.contains(where: { $0.subscriptionID == id }) else { continue }
            all.append(
                CloudSubscription(
                    subscriptionID: id,
                    kind: subscription.isOfDatabase ? .database : .zone(subscription.zoneID)
                )
            )
        }
        return all
    }

    private func subscriptions() async throws(CloudError) -> [WebSubscription] {
        let json = try await send("subscriptions/list", WebRequestBody.nothing)
        guard let found = json["subscriptions"]?.array else { throw .malformed("subscriptions") }
        return found.compactMap { item in
            guard let id = item["subscriptionID"]?.string,
                item["subscriptionType"]?.string?.lowercased() == "zone",
                let zoneID = item["zoneID"].flatMap(ZoneID.init(web:))
            else { return nil }
            return WebSubscription(id, zoneID.ofCurrentUser)
        }
    }
}

/// A subscription of a zone, as the services know it.
struct WebSubscription: Equatable, Sendable {
    private static let separator = "#"

    let id: String
    let zoneID: ZoneID

    init(_ id: String, _ zoneID: ZoneID) {
        (self.id, self.zoneID) = (id, zoneID)
    }

    /// The part of a subscription to the database that is about one zone.
    init(ofDatabase id: String, _ zoneID: ZoneID) {
        self.init(id + Self.separator + zoneID.zoneName, zoneID)
    }

    var isOfDatabase: Bool { id.hasSuffix(Self.separator + zoneID.zoneName) }

    /// The ID of the subscription that this one is, or is a part of.
    var publicID: String {
        isOfDatabase ? String(id.dropLast(Self.separator.count + zoneID.zoneName.count)) : id
    }
}
