import RecordCoding

extension RecordService {
    /// A request may name this many zones; a page of each is in memory at the same time.
    private static let maximumZonesOfChanges = 50

    func databaseChanges(_ call: Call) async throws(CloudError) -> Answer {
        let operation = LedgerRequest.Operation.databaseChanges(
            since: try call.body.changeToken(),
            resultsLimit: try call.body.count("resultsLimit")
        )
        let response = try await perform(operation, call)
        guard case .databaseChanges(let changes) = response else { throw response.unexpected }
        return .success { writer in
            writer.key("zones")
            writer.beginArray()
            for deletion in changes.deletions {
                writer.beginObject()
                writer.zoneID(deletion.zoneID, namingOwner: call.request.user)
                writer.deleted()
                // The services don't say why a zone is gone.
                writer.text("deletionReason", deletion.reason.serviceName)
                writer.endObject()
            }
            for zoneID in changes.modifications {
                writer.beginObject()
                writer.zoneID(zoneID, namingOwner: call.request.user)
                writer.key("atomic")
                writer.bool(true)
                writer.endObject()
            }
            writer.endArray()
            writer.position(changes.changeToken, changes.moreComing)
        }
    }

    func zoneChanges(_ call: Call) async throws(CloudError) -> Answer {
        guard let zones = try call.body.objects("zones") else { throw call.body.missing("zones") }
        try call.body.refuse("reverse", "numbersAsStrings")
        guard zones.count <= Self.maximumZonesOfChanges else {
            let message = "The request names \(zones.count) zones; \(Self.maximumZonesOfChanges) are allowed."
            throw CloudError(.limitExceeded, message: message)
        }
        var feeds: [(zoneID: ZoneID, page: Result<ServicePage, CloudError>)] = []
        var room = options.maximumPageBytes
        for zone in zones {
            let feed = try ServiceFeed(zone, defaults: call.body)
            do throws(CloudError) {
                let page = try await page(of: feed, upTo: room, call)
                room -= page.records.count
                feeds.append((feed.zoneID, .success(page)))
            } catch {
                if error.isOfWholeRequest { throw error }
                feeds.append((feed.zoneID, .failure(error)))
            }
        }
        return .success { writer in
            writer.objects("zones", feeds) { writer, feed in
                writer.zoneID(feed.zoneID, namingOwner: call.request.user)
                switch feed.page {
                case .success(let page):
                    writer.position(
                        page.changeToken,
                        page.moreComing,
                        endingWithNull: options.lastPageHasNull
                    )
                    writer.key("records")
                    writer.raw(page.records)
                case .failure(let error): writer.failure(error, options)
                }
            }
        }
    }

    /// A page that is not larger than wanted, unless its only record is.
    private func page(
        of feed: ServiceFeed,
        upTo room: Int,
        _ call: Call
    ) async throws(CloudError) -> ServicePage {
        var limit = min(feed.resultsLimit ?? options.maximumItems, options.maximumItems)
        while true {
            let operation = LedgerRequest.Operation.recordZoneChanges(
                feed.zoneID,
                since: feed.changeToken,
                desiredKeys: feed.desiredKeys,
                resultsLimit: limit
            )
            let response = try await perform(operation, call)
            guard case .recordZoneChanges(let changes) = response else { throw response.unexpected }
            let count = changes.modifications.count + changes.deletions.count
            var size = changes.estimatedSize
            if size <= room || count <= 1 {
                let page = ServicePage(changes, feed, options)
                size = page.records.count
                if size <= room || count <= 1 { return page }
            }
            // As many as have room if all have the same size, and fewer each time.
            limit = max(1, min(count / 2, Int(Double(count) * Double(max(room, 0)) / Double(size))))
        }
    }
}

/// What a request wants of the changes of one zone.
private struct ServiceFeed {
    let zoneID: ZoneID
    let changeToken: ChangeToken?
    let resultsLimit: Int?
    let desiredKeys: [String]?
    let desiredRecordTypes: [String]?

    init(_ zone: ServiceBody, defaults: ServiceBody) throws(CloudError) {
        guard let zoneID = try zone.zoneID("zoneID") else { throw zone.missing("zoneID") }
        try zone.refuse("reverse", "numbersAsStrings")
        self.zoneID = zoneID
        changeToken = try zone.changeToken()
        // What the zone doesn't say, the request says for all zones.
        func source(_ key: String) -> ServiceBody { zone.json[key] == nil ? defaults : zone }
        resultsLimit = try source("resultsLimit").count("resultsLimit")
        desiredKeys = try source("desiredKeys").texts("desiredKeys")
        desiredRecordTypes = try source("desiredRecordTypes").texts("desiredRecordTypes")
    }
}

/// A page of the changes of one zone, as JSON.
private struct ServicePage {
    let changeToken: ChangeToken
    let moreComing: Bool
    /// An array of records.
    let records: [UInt8]

    init(_ changes: ZoneChanges, _ feed: ServiceFeed, _ options: RecordServiceOptions) {
        changeToken = changes.changeToken
        moreComing = changes.moreComing
        var writer = JSONWriter()
        writer.beginArray()
        for (id, result) in changes.modifications.sorted(by: { $0.key < $1.key }) {
            if let types = feed.desiredRecordTypes, case .success(let record) = result,
                !types.contains(record.recordType)
            {
                continue
            }
            writer.item(id.recordName, result, options)
        }
        for deletion in changes.deletions {
            writer.beginObject()
            writer.text("recordName", deletion.recordID.recordName)
            if options.deletionsHaveTypes { writer.text("recordType", deletion.recordType) }
            writer.deleted()
            writer.endObject()
        }
        writer.endArray()
        records = writer.bytes
    }
}

extension ServiceBody {
    /// The position of a feed; one that is empty can't be used.
    fileprivate func changeToken() throws(CloudError) -> ChangeToken? {
        guard let text = try text("syncToken") else { return nil }
        var token = ChangeToken(web: text)
        // From clients of this project: tags that a server that was put back to an earlier copy has not issued.
        token.knownChangeTags = try texts("knownChangeTags") ?? []
        return token
    }
}

extension CloudError {
    /// Whether it says nothing of the zone.
    fileprivate var isOfWholeRequest: Bool {
        switch code {
        case .zoneNotFound, .userDeletedZone, .changeTokenExpired, .invalidArguments, .permissionFailure:
            false
        default: true
        }
    }
}

extension ZoneChanges {
    /// About how many bytes the page has as JSON, so that one that is much too large is not written.
    fileprivate var estimatedSize: Int {
        deletions.count * 200
            + modifications.values.reduce(0) { sum, result in
                guard case .success(let record) = result else { return sum + 200 }
                // Bytes become a third longer, and each field has a name, a type and quotation marks.
                return sum + 400 + record.size * 4 / 3 + record.fields.count * 40
            }
    }
}

extension DatabaseChanges.Deletion.Reason {
    fileprivate var serviceName: String? {
        switch self {
        case .purged: "PURGED"
        case .encryptedDataReset: "ENCRYPTED_DATA_RESET"
        case .deleted: nil
        }
    }
}

extension JSONWriter {
    fileprivate mutating func position(
        _ token: ChangeToken,
        _ moreComing: Bool,
        endingWithNull: Bool = false
    ) {
        text("syncToken", token.web)
        key("moreComing")
        if endingWithNull, !moreComing { null() } else { bool(moreComing) }
    }
}
