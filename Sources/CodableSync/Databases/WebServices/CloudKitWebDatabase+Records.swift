public import RecordCoding

extension CloudKitWebDatabase {
    /// Saves and deletes records, with one request for each zone.
    ///
    /// If a request fails after another zone's was answered, its records have a lost response, and the answered zone
    /// keeps its results.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save, with the fields to write; no ID twice.
    ///   - recordIDsToDelete: The records to delete.
    ///   - savePolicy: What happens if the server has another version.
    ///   - atomically: Whether the changes in each zone succeed or fail together; not in the default zone, which has no such
    ///     requests.
    /// - Returns: A result for each record. A conflict has the server's record, which is looked up.
    /// - Throws: ``CloudError`` if the request as a whole failed;
    ///   ``CloudError/Code-swift.enum/serverResponseLost`` if the changes may have been made.
    public func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult {
        try checkCount(recordsToSave.count + recordIDsToDelete.count)
        let batches = try WebBatches(
            saving: recordsToSave,
            deleting: recordIDsToDelete,
            atomically: atomically
        )
        var result = batches.refused
        var (isAnswered, failure): (Bool, CloudError?) = (false, nil)
        let database = ofOneUser
        for batch in batches.all {
            // A wait or a missing account is about all zones.
            if let failure {
                result.merge(batch.failed(.lostBehindOthers(failure)))
                continue
            }
            do throws(CloudError) {
                result.merge(try await database.modify(batch, savePolicy, atomically: atomically))
                isAnswered = true
            } catch {
                if error.code == .zoneNotFound {
                    result.merge(batch.failed(error))
                } else if isAnswered {
                    result.merge(batch.failed(.lostBehindOthers(error)))
                    failure = error
                } else {
                    throw error
                }
            }
        }
        return result
    }

    private func modify(
        _ batch: WebBatch,
        _ savePolicy: SavePolicy,
        atomically: Bool
    ) async throws(CloudError) -> ModifyRecordsResult {
        let body = try batch.body(savePolicy, atomically: atomically)
        let answer = try await answer(
            "records/modify",
            body,
            isChange: true,
            isOfOneRecord: batch.saves.count + batch.deletions.count == 1
        )
        var result: ModifyRecordsResult
        if answer.isAtomicFailure {
            // Nothing was changed. Uncertain: whether the answer says which records are to blame.
            result = batch.failed(CloudError(.batchRequestFailed))
            if let json = answer.json { result.merge(batch.result(json).failures) }
        } else {
            result = batch.result(try answer.success())
        }
        if result.isOnlyCollateral {
            if savePolicy == .ifServerRecordUnchanged {
                result.merge(try await conflicts(among: batch.saves, in: batch.zoneID))
            }
            guard !result.isOnlyCollateral else {
                // The engine then sends fewer records at a time, until it has found the one to blame.
                throw CloudError(
                    .unknown("ATOMIC_ERROR"),
                    message: "One of the records can't be saved, and the server doesn't say which.",
                    retryAfter: answer.retryAfter
                )
            }
            return result
        }
        return await addingServerRecords(to: result, of: batch)
    }

    /// The saves that the server's change tags refuse.
    private func conflicts(
        among records: [Record],
        in zoneID: ZoneID
    ) async throws(CloudError) -> ModifyRecordsResult {
        let found = try await lookUp(records.map(\.recordID), in: zoneID, desiredKeys: nil)
        var conflicts = ModifyRecordsResult()
        for record in records {
            switch found[record.recordID] {
            case .success(let server)? where server.recordChangeTag != record.recordChangeTag:
                conflicts.saveResults[record.recordID] = .failure(
                    CloudError(.serverRecordChanged, serverRecord: server)
                )
            case .failure(let error)? where error.code == .unknownItem && record.recordChangeTag != nil:
                conflicts.saveResults[record.recordID] = .failure(error)
            case .success, .failure, nil: continue
            }
        }
        return conflicts
    }

    /// Looks up the server's records of conflicts, which the services don't send.
    ///
    /// - Parameters:
    ///   - result: The results.
    ///   - batch: The request.
    /// - Returns: The results; a conflict whose record can't be looked up stays without it, and the engine looks it up
    ///   later.
    private func addingServerRecords(
        to result: ModifyRecordsResult,
        of batch: WebBatch
    ) async -> ModifyRecordsResult {
        var errors: [RecordID: CloudError] = [:]
        for (recordID, result) in result.saveResults {
            if case .failure(let error) = result, error.code == .serverRecordChanged {
                errors[recordID] = error
            }
        }
        if errors.isEmpty { return result }
        var result = result
        do throws(CloudError) {
            let found = try await lookUp(errors.keys.sorted(), in: batch.zoneID, desiredKeys: nil)
            for (recordID, var error) in errors {
                guard case .success(let server)? = found[recordID] else { continue }
                error.serverRecord = server
                result.saveResults[recordID] = .failure(error)
            }
        } catch {
            return result
        }
        return result
    }

    /// Looks up records.
    ///
    /// - Parameters:
    ///   - ids: The records' IDs.
    ///   - desiredKeys: The fields to return; `nil` returns all, an empty list only the system fields.
    /// - Returns: The record for each ID, or why there is none.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        let ids = Set(ids).sorted()
        try checkCount(ids.count)
        var zones = WebZones<(zoneID: ZoneID, ids: [RecordID])>()
        for id in ids { zones.change(id.zoneID, { ($0, []) }, { $0.ids.append(id) }) }
        var results: [RecordID: Result<Record, CloudError>] = [:]
        let database = ofOneUser
        for (zoneID, ids) in zones.values {
            do throws(CloudError) {
                results.merge(try await database.lookUp(ids, in: zoneID, desiredKeys: desiredKeys)) { $1 }
            } catch {
                // What was found is of use, whatever happens to the other zones.
                guard error.code == .zoneNotFound || !results.isEmpty else { throw error }
                for id in ids { results[id] = .failure(error) }
            }
        }
        return results
    }

    private func lookUp(
        _ ids: [RecordID],
        in zoneID: ZoneID,
        desiredKeys: [String]?
    ) async throws(CloudError) -> [RecordID: Result<Record, CloudError>] {
        let body = try WebRequestBody.lookUp(ids.map(\.recordName), in: zoneID, desiredKeys: desiredKeys)
        return WebResponse.records(
            try await send("records/lookup", body, isOfOneRecord: ids.count == 1),
            for: ids,
            WebReader(zoneID: zoneID)
        )
    }
}

extension WebAnswer {
    /// Whether nothing was changed because one of the records could not be.
    fileprivate var isAtomicFailure: Bool {
        json?["serverErrorCode"]?.string == "ATOMIC_ERROR"
    }
}

extension CloudError {
    /// The error of records whose request failed after that of another zone was answered.
    fileprivate static func lostBehindOthers(_ error: CloudError) -> CloudError {
        CloudError(.serverResponseLost, message: error.message, retryAfter: error.retryAfter)
    }
}
