import RecordCoding

/// The changes of one call to records of one zone: a request of the services.
struct WebBatch {
    let zoneID: ZoneID
    private(set) var saves: [Record] = []
    private(set) var deletions: [RecordID] = []

    fileprivate init(_ zoneID: ZoneID) { self.zoneID = zoneID }

    fileprivate mutating func append(_ record: Record) { saves.append(record) }

    fileprivate mutating func append(_ recordID: RecordID) { deletions.append(recordID) }

    /// The body of the request.
    func body(_ savePolicy: SavePolicy, atomically: Bool) throws(CloudError) -> [UInt8] {
        try WebRequestBody.modifyRecords(
            saving: saves,
            deleting: deletions.map(\.recordName),
            in: zoneID,
            savePolicy,
            atomically: atomically
        )
    }

    /// The results of the request.
    func result(_ json: WebJSON) -> ModifyRecordsResult {
        WebResponse.modifiedRecords(
            json,
            saving: saves.map(\.recordID),
            deleting: deletions,
            WebReader(zoneID: zoneID)
        )
    }

    /// The same error for all records.
    func failed(_ error: CloudError) -> ModifyRecordsResult {
        var result = ModifyRecordsResult()
        for record in saves { result.saveResults[record.recordID] = .failure(error) }
        for recordID in deletions { result.deleteResults[recordID] = error }
        return result
    }
}

/// The changes of one call by zone, and results for those that can't be sent.
struct WebBatches {
    private(set) var all: [WebBatch] = []
    private(set) var refused = ModifyRecordsResult()

    /// - Throws: `invalidArguments` if a record is named twice.
    init(saving records: [Record], deleting recordIDs: [RecordID], atomically: Bool) throws(CloudError) {
        let named = records.map(\.recordID) + recordIDs
        guard Set(named).count == named.count else {
            throw CloudError(.invalidArguments, message: "The request names a record twice.")
        }
        var batches = WebZones<WebBatch>()
        var unsendable: Set<ZoneID> = []
        for record in records {
            do throws(CloudError) {
                try WebRequestBody.check(record)
                batches.change(record.recordID.zoneID, WebBatch.init) { $0.append(record) }
            } catch {
                refused.saveResults[record.recordID] = .failure(error)
                unsendable.insert(record.recordID.zoneID)
            }
        }
        for recordID in recordIDs {
            do throws(CloudError) {
                try WebRequestBody.check(recordID)
                batches.change(recordID.zoneID, WebBatch.init) { $0.append(recordID) }
            } catch {
                refused.deleteResults[recordID] = error
                unsendable.insert(recordID.zoneID)
            }
        }
        for batch in batches.values {
            if atomically, unsendable.contains(batch.zoneID) {
                refused.merge(batch.failed(CloudError(.batchRequestFailed)))
            } else {
                all.append(batch)
            }
        }
    }
}

/// Values by zone, in the order in which the zones came.
struct WebZones<Value> {
    private(set) var values: [Value] = []
    private var places: [ZoneID: Int] = [:]

    mutating func change(_ zoneID: ZoneID, _ new: (ZoneID) -> Value, _ change: (inout Value) -> Void) {
        let place = places[zoneID] ?? values.count
        if place == values.count {
            places[zoneID] = place
            values.append(new(zoneID))
        }
        change(&values[place])
    }
}

extension ModifyResults {
    /// Adds the results of another request.
    mutating func merge(_ other: ModifyResults) {
        saveResults.merge(other.saveResults) { $1 }
        deleteResults.merge(other.deleteResults) { $1 }
    }

    /// Only the errors, without lost responses.
    var failures: ModifyResults {
        ModifyResults(
            saveResults: saveResults.filter { result in
                if case .failure(let error) = result.value {
                    error.code != .serverResponseLost
                } else {
                    false
                }
            },
            deleteResults: deleteResults.filter { result in
                result.value.map { $0.code != .serverResponseLost } ?? false
            }
        )
    }

    /// Whether something failed, and everything only because of something else.
    var isOnlyCollateral: Bool {
        var codes: [CloudError.Code?] = deleteResults.values.map { $0?.code }
        for result in saveResults.values {
            if case .failure(let error) = result { codes.append(error.code) } else { codes.append(nil) }
        }
        return !codes.isEmpty && codes.allSatisfy { $0 == .batchRequestFailed }
    }
}
