import RecordCoding

extension RecordService {
    func listZones(_ call: Call) async throws(CloudError) -> Answer {
        let response = try await perform(.allZones, call)
        guard case .allZones(let zones) = response else { throw response.unexpected }
        return .success { writer in
            writer.objects("zones", zones) { $0.zone($1.zoneID, call) }
        }
    }

    func lookUpZones(_ call: Call) async throws(CloudError) -> Answer {
        guard let zones = try call.body.objects("zones") else { throw call.body.missing("zones") }
        try checkCount(zones.count)
        var ids: [ZoneID] = []
        for zone in zones {
            // Some clients put each ID into an object of its own.
            if let zoneID = try zone.zoneID("zoneID") {
                ids.append(zoneID)
            } else {
                ids.append(try zone.asZoneID())
            }
        }
        let response = try await perform(.recordZones(ids), call)
        guard case .recordZones(let results) = response else { throw response.unexpected }
        return .success { writer in
            writer.objects("zones", ids) { writer, zoneID in
                if case .failure(let error)? = results[zoneID] {
                    writer.zoneID(zoneID, namingOwner: call.request.user)
                    writer.failure(error, options)
                } else {
                    writer.zone(zoneID, call)
                }
            }
        }
    }

    func modifyZones(_ call: Call) async throws(CloudError) -> Answer {
        guard let operations = try call.body.objects("operations") else {
            throw call.body.missing("operations")
        }
        try checkCount(operations.count)
        var (saving, deleting, ids): ([RecordZone], [ZoneID], [ZoneID]) = ([], [], [])
        for operation in operations {
            guard let zone = try operation.object("zone") else { throw operation.missing("zone") }
            guard let zoneID = try zone.zoneID("zoneID") else { throw zone.missing("zoneID") }
            switch try operation.text("operationType") {
            case "create": saving.append(RecordZone(zoneID: zoneID))
            case "delete": deleting.append(zoneID)
            case nil: throw operation.missing("operationType")
            case let type?: throw .badRequest("\(type.abbreviated) is no operationType of zones")
            }
            ids.append(zoneID)
        }
        let response = try await perform(.modifyRecordZones(saving: saving, deleting: deleting), call)
        guard case .modifyRecordZones(let result) = response else { throw response.unexpected }
        return .success { writer in
            writer.objects("zones", ids) { writer, zoneID in
                switch (result.saveResults[zoneID], result.deleteResults[zoneID]) {
                case (.failure(let error)?, _), (nil, .some(.some(let error))):
                    writer.zoneID(zoneID, namingOwner: call.request.user)
                    writer.failure(error, options)
                case (.success?, _), (nil, nil):
                    writer.zone(zoneID, call)
                case (nil, .some(nil)):
                    writer.zoneID(zoneID, namingOwner: call.request.user)
                    writer.deleted()
                }
            }
        }
    }
}

extension JSONWriter {
    /// Writes the members of a zone, without its latest token: clients must not use that as their own position.
    fileprivate mutating func zone(_ zoneID: ZoneID, _ call: Call) {
        self.zoneID(zoneID, namingOwner: call.owner)
        key("atomic")
        bool(zoneID.zoneName != ZoneID.defaultZoneName)
    }
}
