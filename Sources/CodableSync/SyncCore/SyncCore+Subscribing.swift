import RecordCoding

/// Requests about the engine's subscription.
extension SyncCore {
    /// Creates the subscription; if it existed before, only if the server has lost it.
    func subscribe(_ request: RequestID, isMade: Bool) {
        let subscription = CloudSubscription.engine(for: zoneID)
        perform(request) { connection in
            if isMade,
                try await connection.database.allSubscriptions().contains(where: subscription.isSame(as:))
            {
                return
            }
            let result = try await connection.database.modifySubscriptions(
                saving: [subscription],
                deleting: []
            )
            let outcome = result.saveResults[subscription.subscriptionID]
            _ = try (outcome ?? .failure(.unmentioned("the subscription"))).get()
        } then: { core, result in
            core.process(.response(request, result.map { .subscriptionModified }))
        }
    }

    /// Deletes the subscription.
    func unsubscribe(_ request: RequestID) {
        let id = CloudSubscription.engine(for: zoneID).subscriptionID
        perform(request) { connection in
            let result = try await connection.database.modifySubscriptions(saving: [], deleting: [id])
            if let error = result.deleteResults[id] ?? .unmentioned("the subscription") { throw error }
        } then: { core, result in
            core.process(.response(request, result.map { .subscriptionModified }))
        }
    }
}
