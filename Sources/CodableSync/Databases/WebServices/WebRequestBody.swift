import RecordCoding

/// The bodies of the requests to CloudKit Web Services, each about one zone at most.
///
/// The source of the shapes is
/// [CloudKit Web Services Reference](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/).
enum WebRequestBody {
    /// `records/modify`, with parents before their children; the order of deletions is the caller's.
    ///
    /// - Parameters:
    ///   - records: The records to save, of one zone.
    ///   - names: The names of the records to delete, of the same zone.
    ///   - zoneID: The zone.
    ///   - savePolicy: When a save is refused; a record without a change tag must be new unless the policy says that
    ///     it replaces whatever there is.
    ///   - atomically: Whether all fail if one does; nothing is said of it for the default zone, where the services
    ///     refuse it.
    /// - Returns: The body.
    /// - Throws: `invalidArguments` for values that the services can't store.
    static func modifyRecords(
        saving records: [Record],
        deleting names: [String],
        in zoneID: ZoneID,
        _ savePolicy: SavePolicy,
        atomically: Bool
    ) throws(CloudError) -> [UInt8] {
        try body { writer throws(CloudError) in
            writer.key("zoneID")
            writer.zoneID(zoneID)
            if zoneID.zoneName != ZoneID.defaultZoneName {
                writer.key("atomic")
                writer.bool(atomically)
            }
            writer.key("operations")
            writer.beginArray()
            for record in records.parentsFirst(name: \.recordID.recordName, parent: { $0.parent?.recordName })
            {
                try writer.object { writer throws(CloudError) in try writer.save(record, savePolicy) }
            }
            for name in names {
                try writer.object { writer throws(CloudError) in
                    writer.text("operationType", "forceDelete")
                    writer.key("record")
                    writer.named("recordName", name)
                }
            }
            writer.endArray()
        }
    }

    /// `records/lookup`.
    static func lookUp(
        _ names: [String],
        in zoneID: ZoneID,
        desiredKeys: [String]?
    ) throws(CloudError) -> [UInt8] {
        try body { writer throws(CloudError) in
            writer.key("zoneID")
            writer.zoneID(zoneID)
            try writer.list("records", names) { writer, name throws(CloudError) in
                writer.named("recordName", name)
            }
            try writer.desiredKeys(desiredKeys)
        }
    }

    /// `changes/zone` for one zone.
    static func zoneChanges(
        in zoneID: ZoneID,
        since token: String?,
        knownChangeTags: [String] = [],
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) throws(CloudError) -> [UInt8] {
        try body { writer throws(CloudError) in
            try writer.list("zones", CollectionOfOne(zoneID)) { writer, zoneID throws(CloudError) in
                try writer.object { writer throws(CloudError) in
                    writer.key("zoneID")
                    writer.zoneID(zoneID)
                    writer.position(token, resultsLimit)
                    if token != nil, !knownChangeTags.isEmpty {
                        try writer.list("knownChangeTags", knownChangeTags) {
                            writer,
                            tag throws(CloudError) in
                            writer.string(tag)
                        }
                    }
                    try writer.desiredKeys(desiredKeys)
                }
            }
        }
    }

    /// `changes/database`.
    static func databaseChanges(since token: String?, resultsLimit: Int?) throws(CloudError) -> [UInt8] {
        try body { writer throws(CloudError) in writer.position(token, resultsLimit) }
    }

    /// `zones/lookup`.
    static func lookUpZones(_ zoneIDs: [ZoneID]) throws(CloudError) -> [UInt8] {
        try body { writer throws(CloudError) in
            try writer.list("zones", zoneIDs) { writer, zoneID throws(CloudError) in writer.zoneID(zoneID) }
        }
    }

    /// `zones/modify`.
    static func modifyZones(saving: [ZoneID], deleting: [ZoneID]) throws(CloudError) -> [UInt8] {
        let operations = saving.map { ("create", $0) } + deleting.map { ("delete", $0) }
        return try body { writer throws(CloudError) in
            try writer.list("operations", operations) { writer, operation throws(CloudError) in
                try writer.object { writer throws(CloudError) in
                    writer.text("operationType", operation.0)
                    writer.key("zone")
                    try writer.object { writer throws(CloudError) in
                        writer.key("zoneID")
                        writer.zoneID(operation.1)
                    }
                }
            }
        }
    }

    /// `subscriptions/modify`, for subscriptions of zones: the services know no others that an engine needs.
    static func modifySubscriptions(
        saving: [WebSubscription],
        deleting: [String]
    ) throws(CloudError) -> [UInt8] {
        try body { writer throws(CloudError) in
            writer.key("operations")
            writer.beginArray()
            for subscription in saving {
                try writer.object { writer throws(CloudError) in
                    writer.text("operationType", "create")
                    writer.key("subscription")
                    try writer.object { writer throws(CloudError) in
                        writer.text("subscriptionID", subscription.id)
                        writer.text("subscriptionType", "zone")
                        writer.key("zoneID")
                        writer.zoneID(subscription.zoneID)
                        writer.key("notificationInfo")
                        try writer.object { writer throws(CloudError) in
                            writer.key("shouldSendContentAvailable")
                            writer.bool(true)
                        }
                    }
                }
            }
            for subscriptionID in deleting {
                try writer.object { writer throws(CloudError) in
                    writer.text("operationType", "delete")
                    writer.key("subscription")
                    writer.named("subscriptionID", subscriptionID)
                }
            }
            writer.endArray()
        }
    }

    private static func body(
        _ members: (inout JSONWriter) throws(CloudError) -> Void
    ) throws(CloudError) -> [UInt8] {
        var writer = JSONWriter()
        try writer.object(members)
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func save(_ record: Record, _ policy: SavePolicy) throws(CloudError) {
        let tag = policy == .ifServerRecordUnchanged ? record.recordChangeTag : nil
        let isNew = policy == .ifServerRecordUnchanged && tag == nil
        text("operationType", isNew ? "create" : tag == nil ? "forceUpdate" : "update")
        key("record")
        try object { writer throws(CloudError) in
            writer.text("recordName", record.recordID.recordName)
            writer.text("recordType", record.recordType)
            writer.text("recordChangeTag", tag)
            try writer.fields(of: record, clears: !isNew)
            writer.parent(record.parent)
        }
    }

    /// Writes an object that has a name only.
    fileprivate mutating func named(_ key: String, _ name: String) {
        beginObject()
        text(key, name)
        endObject()
    }

    fileprivate mutating func desiredKeys(_ keys: [String]?) throws(CloudError) {
        guard let keys else { return }
        try list("desiredKeys", keys) { writer, key throws(CloudError) in writer.string(key) }
    }

    /// Writes where a feed continues, and how many results are wanted; never an empty token, for which the services
    /// were seen to answer that nothing has changed.
    fileprivate mutating func position(_ token: String?, _ resultsLimit: Int?) {
        text("syncToken", token?.isEmpty == true ? nil : token)
        guard let resultsLimit else { return }
        key("resultsLimit")
        int(Int64(min(max(resultsLimit, 1), 200)))
    }
}

extension WebRequestBody {
    /// An empty object: the services accept a `POST` wherever they accept a `GET`, and a request whose connection was
    /// closed is not sent twice.
    static let nothing = Array("{}".utf8)

    /// The body of `tokens/create`.
    static func newToken(_ environment: CloudKitWebSession.Environment) -> [UInt8] {
        Array("{\"apnsEnvironment\":\"\(environment.rawValue)\"}".utf8)
    }

    /// Checks what would make the services refuse a whole request.
    ///
    /// - Throws: `invalidArguments` for a name or a value that is not allowed; `limitExceeded` for a record that is too
    ///   large.
    static func check(_ record: Record) throws(CloudError) {
        do throws(RecordCodingError) {
            try RecordLimits.check(record)
        } catch {
            throw CloudError(refusing: error)
        }
        if let parent = record.parent {
            guard parent.action == .none else {
                throw CloudError(.invalidArguments, message: "The action of a parent must be none.")
            }
            if let zoneID = parent.zoneID, !zoneID.isSameZone(as: record.recordID.zoneID) {
                throw CloudError(.invalidArguments, message: "A parent must be in the zone of its record.")
            }
        }
        var writer = JSONWriter()
        try writer.fields(of: record, clears: true)
    }

    static func check(_ recordID: RecordID) throws(CloudError) {
        do throws(RecordCodingError) {
            try RecordLimits.checkRecordName(recordID.recordName)
            try RecordLimits.check(recordID.zoneID)
        } catch {
            throw CloudError(refusing: error)
        }
    }
}
