import RecordCoding

/// Pushes that the app hands over.
extension SyncEngine {
    /// Takes a push in, and fetches if it is this engine's.
    ///
    /// Give every remote notification to every engine; each knows its own by container, scope, subscription and zone. A
    /// push whose zone was left out is taken for a hint, and so is one without a container. Concurrent pushes share
    /// fetches, and a copy of a notification that was handled brings nothing.
    ///
    /// - Before the first start it opens the engine, as any call does; the first fetch serves it.
    /// - Where ``SyncConfiguration/automaticallySyncs`` is off it fetches all the same: the app asked for it.
    /// - While the engine is stopped, closed or without a user, within a wait that the server ordered, and before
    ///   ``resolvePurge(_:)``, nothing is requested: the next fetch brings what the push was about.
    ///
    /// It sends nothing, and never traps, whatever the payload.
    ///
    /// - Parameter userInfo: The payload as the system handed it over.
    /// - Returns: `notOurs` if it is not this engine's; `newData` if the fetch brought something; `noData` if it
    ///   brought nothing, failed, or was not tried.
    public nonisolated(nonsending) func handleNotification(
        _ userInfo: [AnyHashable: Any]
    ) async -> NotificationOutcome {
        guard let notification = database.notification(from: userInfo), isOurs(notification) else {
            return .notOurs
        }
        return await take(notification)
    }

    private nonisolated func isOurs(_ notification: CloudNotification) -> Bool {
        if let scope = notification.scope, scope != database.scope { return false }
        if let zone = notification.zoneID, !zone.isSameZone(as: zoneID) { return false }
        if let subscription = notification.subscriptionID {
            guard subscription == CloudSubscription.engine(for: zoneID).subscriptionID else { return false }
        }
        if let container = notification.containerIdentifier, let ours = configuration.containerIdentifier {
            return container == ours
        }
        return true
    }

    private func take(_ notification: CloudNotification) async -> NotificationOutcome {
        guard handled.insert(notification.notificationID) else { return .noData }
        do {
            return try await sync([.fetch, .hint]).fetched > 0 ? .newData : .noData
        } catch {
            // The cloud keeps what it was about for the next fetch; a copy may be the occasion.
            handled.remove(notification.notificationID)
            return .noData
        }
    }
}

/// The notifications that came last, by which copies are known.
struct HandledNotifications {
    private static var limit: Int { 100 }

    private var ids: [String] = []

    /// Notes a notification, and says whether it is a new one, as every one without an ID is.
    mutating func insert(_ id: String?) -> Bool {
        guard let id else { return true }
        if ids.contains(id) { return false }
        ids.append(id)
        if ids.count > Self.limit { ids.removeFirst() }
        return true
    }

    mutating func remove(_ id: String?) {
        ids.removeAll { $0 == id }
    }
}
