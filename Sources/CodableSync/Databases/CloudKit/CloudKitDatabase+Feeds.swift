#if canImport(CloudKit)
    import CloudKit
    import Foundation
    public import RecordCoding

    extension CloudKitDatabase {
        /// Reads a page of the database's change feed.
        ///
        /// - Parameters:
        ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
        ///   - resultsLimit: The maximum number of zones in the page; `nil` lets CloudKit decide.
        /// - Returns: The page.
        /// - Throws: ``CloudError``; `changeTokenExpired` if the token can't be used.
        public func databaseChanges(
            since changeToken: ChangeToken?,
            resultsLimit: Int?
        ) async throws -> DatabaseChanges {
            let token = try changeToken?.cloudKitToken
            return try await perform { database in
                let page = try await database.databaseChanges(since: token, resultsLimit: resultsLimit)
                return DatabaseChanges(
                    modifications: page.modifications.map { ZoneID($0.zoneID) },
                    deletions: page.deletions.map { deletion in
                        DatabaseChanges.Deletion(
                            zoneID: ZoneID(deletion.zoneID),
                            reason: DatabaseChanges.Deletion.Reason(deletion.reason)
                        )
                    },
                    changeToken: try ChangeToken(page.changeToken),
                    moreComing: page.moreComing
                )
            }
        }

        /// Reads a page of a zone's change feed.
        ///
        /// - Parameters:
        ///   - zoneID: The zone.
        ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
        ///   - desiredKeys: The fields to return; `nil` returns all.
        ///   - resultsLimit: The maximum number of records in the page; `nil` lets CloudKit decide.
        /// - Returns: The page.
        /// - Throws: ``CloudError``; `changeTokenExpired` if the token can't be used.
        public func recordZoneChanges(
            inZoneWith zoneID: ZoneID,
            since changeToken: ChangeToken?,
            desiredKeys: [String]?,
            resultsLimit: Int?
        ) async throws -> ZoneChanges {
            let cloudKitID = try CKRecordZone.ID(zoneID)
            let token = try changeToken?.cloudKitToken
            let reader = reader
            return try await perform { database in
                do {
                    let page = try await database.recordZoneChanges(
                        inZoneWith: cloudKitID,
                        since: token,
                        desiredKeys: desiredKeys,
                        resultsLimit: resultsLimit
                    )
                    var modifications: [RecordID: Result<Record, CloudError>] = [:]
                    for (recordID, result) in page.modificationResultsByID {
                        modifications[reader.id(recordID, in: zoneID)] = reader.result(result, in: zoneID) {
                            reader.record($0.record, in: zoneID)
                        }
                    }
                    return ZoneChanges(
                        modifications: modifications,
                        deletions: page.deletions.map { deletion in
                            ZoneChanges.Deletion(
                                recordID: reader.id(deletion.recordID, in: zoneID),
                                recordType: deletion.recordType
                            )
                        },
                        changeToken: try ChangeToken(page.changeToken),
                        moreComing: page.moreComing
                    )
                } catch let error as CKError {
                    // The error of the only zone may come in a container.
                    throw error.itemErrors?.error(of: cloudKitID) ?? error
                }
            }
        }

        /// Reads a push payload.
        ///
        /// - Parameter userInfo: The payload from the system.
        /// - Returns: The notification, or `nil` if the payload is not CloudKit's.
        public func notification(from userInfo: [AnyHashable: Any]) -> CloudNotification? {
            guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else {
                return nil
            }
            return CloudNotification(
                notification,
                // CloudKit's ID is an object without a name, so the name is read from the payload.
                notificationID: CloudNotification(userInfo: userInfo)?.notificationID
            )
        }
    }

    extension DatabaseChanges.Deletion.Reason {
        init(_ reason: CKDatabase.DatabaseChange.Deletion.Reason) {
            switch reason {
            case .deleted: self = .deleted
            case .purged: self = .purged
            case .encryptedDataReset: self = .encryptedDataReset
            // A reason that this version does not know: whatever it is, the zone is gone.
            @unknown default: self = .deleted
            }
        }
    }

    extension CloudNotification {
        init(_ notification: CKNotification, notificationID: String?) {
            self.init(
                containerIdentifier: notification.containerIdentifier,
                subscriptionID: notification.subscriptionID,
                notificationID: notificationID
            )
            switch notification {
            case let notification as CKRecordZoneNotification:
                zoneID = notification.recordZoneID.map { ZoneID($0) }
                scope = DatabaseScope(notification.databaseScope)
            case let notification as CKDatabaseNotification:
                scope = DatabaseScope(notification.databaseScope)
            case let notification as CKQueryNotification:
                zoneID = notification.recordID.map { ZoneID($0.zoneID) }
                scope = DatabaseScope(notification.databaseScope)
            default:
                break
            }
        }
    }
#endif
