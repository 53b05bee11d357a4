import RecordCoding

/// Handling pushes.
extension SyncEngine {
    /// Handles a push, and fetches changes if the push is for this engine.
    ///
    /// Pass every remote notification to every engine; each recognises its own by container, scope,
    /// subscription and zone. A push without a zone or container may be for any engine, so the engine
    /// fetches. Concurrent pushes share fetches, and a repeated notification is ignored.
    ///
    /// - Before the first start, the call opens the engine, as any call does, and waits for the first fetch.
    /// - It fetches even if ``SyncConfiguration/automaticallySyncs`` is off, because the app asked for it.
    /// - Nothing is requested while the engine is stopped, closed or without a user, during a wait that the
    ///   server ordered, and before ``resolvePurge(_:)``; the next fetch gets the changes.
    ///
    /// The call sends nothing, and accepts any payload without trapping.
    ///
    /// - Parameter userInfo: The payload from the system.
    /// - Returns: `notOurs` if the push is not for this engine; `newData` if the fetch returned changes;
    ///   `noData` if it returned none, failed, or was not tried.
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
            // The changes are still in the cloud, so a repeated notification may fetch them.
            handled.remove(notification.notificationID)
            return .noData
        }
    }
}

/// The IDs of the latest notifications, which identify repeated ones.
struct HandledNotifications {
    private static var limit: Int { 100 }

    private var ids: [String] = []

    /// Notes a notification and returns whether it is new; one without an ID always is.
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
