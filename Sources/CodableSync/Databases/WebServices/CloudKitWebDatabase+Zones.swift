public import RecordCoding

extension CloudKitWebDatabase {
    /// Creates and deletes zones.
    ///
    /// - Parameters:
    ///   - zonesToSave: The zones to create; existing zones stay unchanged.
    ///   - zoneIDsToDelete: The zones to delete, with everything in them.
    /// - Returns: A result for each zone.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func modifyRecordZones(
        saving zonesToSave: [RecordZone],
        deleting zoneIDsToDelete: [ZoneID]
    ) async throws -> ModifyZonesResult {
        var result = ModifyZonesResult()
        let saves = zonesToSave.map(\.zoneID).filter { zoneID in
            Self.isAllowed(zoneID) { result.saveResults[zoneID] = .failure($0) }
        }
        let deletions = zoneIDsToDelete.filter { zoneID in
            Self.isAllowed(zoneID) { result.deleteResults[zoneID] = $0 }
        }
        if saves.isEmpty, deletions.isEmpty { return result }
        let body = try WebRequestBody.modifyZones(saving: saves, deleting: deletions)
        let zones = try WebResponse.zones(await send("zones/modify", body, isChange: true))
        for zoneID in saves {
            let found = zones.first { $0.zoneID.isSameZone(as: zoneID) && !$0.isDeleted }
            result.saveResults[zoneID] =
                switch found {
                case nil: .failure(.malformed("zones"))
                case (_, let error?, _)?: .failure(error)
                case (_, nil, _)?: .success(RecordZone(zoneID: zoneID))
                }
        }
        for zoneID in deletions {
            // Uncertain: the form of a deleted zone. That it is named alone does not say that it is deleted.
            let found = zones.first { $0.zoneID.isSameZone(as: zoneID) && ($0.isDeleted || $0.error != nil) }
            result.deleteResults[zoneID] = .some(found.map(\.error) ?? .malformed("zones"))
        }
        return result
    }

    /// Looks up zones.
    ///
    /// - Parameter ids: The zones' IDs.
    /// - Returns: The zone for each ID, or ``CloudError/Code-swift.enum/zoneNotFound``.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<RecordZone, CloudError>] {
        var results: [ZoneID: Result<RecordZone, CloudError>] = [:]
        let asked = ids.filter { zoneID in Self.isAllowed(zoneID) { results[zoneID] = .failure($0) } }
        if asked.isEmpty { return results }
        let zones = try WebResponse.zones(await send("zones/lookup", WebRequestBody.lookUpZones(asked)))
        for zoneID in asked {
            let found = zones.first { $0.zoneID.isSameZone(as: zoneID) }
            results[zoneID] =
                switch found {
                case nil: .failure(.malformed("zones"))
                case (_, let error?, _)?: .failure(error)
                case (_, nil, true)?: .failure(CloudError(.zoneNotFound))
                case (_, nil, false)?: .success(RecordZone(zoneID: zoneID))
                }
        }
        return results
    }

    private static func isAllowed(_ zoneID: ZoneID, refuse: (CloudError) -> Void) -> Bool {
        do throws(RecordCodingError) {
            try RecordLimits.check(zoneID)
            return true
        } catch {
            refuse(CloudError(refusing: error))
            return false
        }
    }
}

extension ZoneID {
    /// The ID without the owner's user record name, which responses contain: in a private database, that is the user.
    var ofCurrentUser: ZoneID { ZoneID(zoneName: zoneName) }
}
