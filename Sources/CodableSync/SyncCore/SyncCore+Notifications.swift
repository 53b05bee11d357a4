import RecordCoding

/// Handling pushes.
extension SyncCore {
    nonisolated func isOurs(_ notification: CloudNotification) -> Bool {
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

    func take(_ notification: CloudNotification) async -> NotificationOutcome {
        guard handled.insert(notification.notificationID) else { return .noData }
        do {
            return try await sync([.fetch, .hint]).fetched > 0 ? .newData : .noData
        } catch {
            // The changes are still in the cloud, so a repeated notification may fetch them.
            handled.remove(notification.notificationID)
            return Self.hasTried(error) ? .failed : .noData
        }
    }

    /// Whether a fetch that ended with an error has made a request; without one, nothing has failed.
    private static func hasTried(_ error: any Error) -> Bool {
        guard let error = error as? SyncError else { return true }
        return switch error.code {
        case .stopped, .closed, .waiting, .waitingForDecision: false
        default: error.cloudError?.recovery != .waitForAccount
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
