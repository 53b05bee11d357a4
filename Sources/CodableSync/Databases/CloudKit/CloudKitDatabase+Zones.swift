#if canImport(CloudKit)
    import CloudKit
    import Foundation
    public import RecordCoding

    extension CloudKitDatabase {
        /// Creates and deletes zones.
        ///
        /// - Parameters:
        ///   - zonesToSave: The zones to create; existing zones stay unchanged.
        ///   - zoneIDsToDelete: The zones to delete, with everything in them.
        /// - Returns: A result for each zone that CloudKit mentions in its response.
        /// - Throws: ``CloudError`` if the request as a whole failed.
        public func modifyRecordZones(
            saving zonesToSave: [RecordZone],
            deleting zoneIDsToDelete: [ZoneID]
        ) async throws -> ModifyZonesResult {
            try checkUnique(zonesToSave.map(\.zoneID) + zoneIDsToDelete)
            let saves = IDs(zonesToSave.map(\.zoneID)) { id throws(CloudError) in try CKRecordZone.ID(id) }
            let deletions = IDs(zoneIDsToDelete) { id throws(CloudError) in try CKRecordZone.ID(id) }
            let refused = ModifyZonesResult(
                saveResults: saves.refused(),
                deleteResults: deletions.errors.mapValues { .some($0) }
            )
            if saves.isEmpty, deletions.isEmpty { return refused }
            let reader = reader
            return try await perform { database in
                var result = refused
                do {
                    let answer = try await database.modifyRecordZones(
                        saving: saves.converted.map(CKRecordZone.init(zoneID:)),
                        deleting: deletions.converted
                    )
                    for (id, zoneID) in saves.pairs {
                        result.saveResults[id] = answer.saveResults.result(of: zoneID).map { saved in
                            reader.result(saved) { _ in RecordZone(zoneID: id) }
                        }
                    }
                    for (id, zoneID) in deletions.pairs {
                        if let deleted = answer.deleteResults.result(of: zoneID) {
                            result.deleteResults[id] = .some(reader.failure(deleted))
                        }
                    }
                } catch let error as CKError {
                    guard let errors = error.itemErrors else { throw error }
                    for (id, zoneID) in saves.pairs {
                        result.saveResults[id] = errors.error(of: zoneID).map { .failure(reader.error($0)) }
                    }
                    for (id, zoneID) in deletions.pairs {
                        if let error = errors.error(of: zoneID) {
                            result.deleteResults[id] = reader.error(error)
                        }
                    }
                }
                return result
            }
        }

        /// Looks up zones.
        ///
        /// - Parameter ids: The zones' IDs.
        /// - Returns: The zone for each ID, or why there is none.
        /// - Throws: ``CloudError`` if the request as a whole failed.
        public func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<RecordZone, CloudError>] {
            let request = IDs(ids) { id throws(CloudError) in try CKRecordZone.ID(id) }
            if request.isEmpty { return request.refused() }
            let reader = reader
            return try await perform { database in
                var results: [ZoneID: Result<RecordZone, CloudError>] = request.refused()
                do {
                    let answer = try await database.recordZones(for: request.converted)
                    for (id, zoneID) in request.pairs {
                        results[id] = answer.result(of: zoneID).map { zone in
                            reader.result(zone) { _ in RecordZone(zoneID: id) }
                        }
                    }
                } catch let error as CKError {
                    guard let errors = error.itemErrors else { throw error }
                    for (id, zoneID) in request.pairs {
                        results[id] = errors.error(of: zoneID).map { .failure(reader.error($0)) }
                    }
                }
                return results
            }
        }

        /// Creates and deletes subscriptions with silent pushes.
        ///
        /// - Parameters:
        ///   - subscriptionsToSave: The subscriptions to create; one with the same ID is replaced.
        ///   - subscriptionIDsToDelete: The IDs of the subscriptions to delete.
        /// - Returns: A result for each subscription that CloudKit mentions in its response.
        /// - Throws: ``CloudError`` if the request as a whole failed.
        public func modifySubscriptions(
            saving subscriptionsToSave: [CloudSubscription],
            deleting subscriptionIDsToDelete: [String]
        ) async throws -> ModifySubscriptionsResult {
            try checkUnique(subscriptionsToSave.map(\.subscriptionID) + subscriptionIDsToDelete)
            let saves = IDs(subscriptionsToSave) { subscription throws(CloudError) in
                try CKSubscription.silent(subscription)
            }
            var refused = ModifySubscriptionsResult()
            for (subscription, error) in saves.errors {
                refused.saveResults[subscription.subscriptionID] = .failure(error)
            }
            if saves.isEmpty, subscriptionIDsToDelete.isEmpty { return refused }
            let (reader, start) = (reader, refused)
            return try await perform { database in
                var result = start
                do {
                    let answer = try await database.modifySubscriptions(
                        saving: saves.converted,
                        deleting: subscriptionIDsToDelete
                    )
                    for (subscription, _) in saves.pairs {
                        let id = subscription.subscriptionID
                        result.saveResults[id] = answer.saveResults[id].map { saved in
                            reader.result(saved) { _ in subscription }
                        }
                    }
                    for id in subscriptionIDsToDelete {
                        if let deleted = answer.deleteResults[id] {
                            result.deleteResults[id] = .some(reader.failure(deleted))
                        }
                    }
                } catch let error as CKError {
                    guard let errors = error.itemErrors else { throw error }
                    for id in saves.pairs.map(\.id.subscriptionID) {
                        result.saveResults[id] = errors[id].map { .failure(reader.error($0)) }
                    }
                    for id in subscriptionIDsToDelete {
                        if let error = errors[id] { result.deleteResults[id] = reader.error(error) }
                    }
                }
                return result
            }
        }

        /// Lists the user's subscriptions to changes of the database or of a zone.
        ///
        /// - Returns: The subscriptions, excluding other kinds, which the app may have created.
        /// - Throws: ``CloudError`` if the request failed.
        public func allSubscriptions() async throws -> [CloudSubscription] {
            try await perform { database in
                try await database.allSubscriptions().compactMap { CloudSubscription($0) }
            }
        }
    }

    extension CloudSubscription {
        /// Converts a subscription; `nil` for a kind that no engine creates.
        fileprivate init?(_ subscription: CKSubscription) {
            switch subscription {
            case let subscription as CKRecordZoneSubscription:
                self.init(
                    subscriptionID: subscription.subscriptionID,
                    kind: .zone(ZoneID(subscription.zoneID))
                )
            case is CKDatabaseSubscription:
                self.init(subscriptionID: subscription.subscriptionID, kind: .database)
            default:
                return nil
            }
        }
    }

    extension CKSubscription {
        /// Creates a subscription whose pushes wake the app and show nothing.
        fileprivate static func silent(_ subscription: CloudSubscription) throws(CloudError) -> CKSubscription
        {
            if subscription.subscriptionID.isEmpty {
                throw CloudError(.invalidArguments, message: "The subscription's name is empty.")
            }
            let made: CKSubscription
            switch subscription.kind {
            case .database:
                made = CKDatabaseSubscription(subscriptionID: subscription.subscriptionID)
            case .zone(let zoneID):
                made = CKRecordZoneSubscription(
                    zoneID: try CKRecordZone.ID(zoneID),
                    subscriptionID: subscription.subscriptionID
                )
            }
            let info = CKSubscription.NotificationInfo()
            info.shouldSendContentAvailable = true
            made.notificationInfo = info
            return made
        }
    }
#endif
