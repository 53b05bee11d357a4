package import RecordCoding

extension CloudKitWebDatabase {
    /// Saves and deletes records, with one request for each zone.
    ///
    /// If a request fails after another zone's was answered, its records have a lost response, and the answered zone
    /// keeps its results.
    package func modifyRecords(
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
        var isAnswered = false
        for batch in batches.all {
            do throws(CloudError) {
                result.merge(try await modify(batch, savePolicy, atomically: atomically))
                isAnswered = true
            } catch {
                if error.code == .zoneNotFound {
                    result.merge(batch.failed(error))
                } else if isAnswered {
                    result.merge(batch.failed(.lostBehindOthers(error)))
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
        let answer = try await connection.answer(to: WebRequest("records/modify", body, isChange: true))
        guard answer.isAtomicFailure else {
            return await addingServerRecords(to: batch.result(try answer.success()), of: batch)
        }
        // Uncertain: whether the answer names records. Those that it doesn't name were not to blame, as far as is known.
        let isNamed = answer.json?["records"] != nil
        var result = batch.failed(CloudError(.batchRequestFailed))
        if let json = answer.json { result.merge(batch.result(json).without(.serverResponseLost)) }
        return await addingServerRecords(to: result, of: batch, findsConflicts: !isNamed)
    }

    /// Looks up the server's records of conflicts, which the services don't send.
    ///
    /// - Parameters:
    ///   - result: The results.
    ///   - batch: The request.
    ///   - findsConflicts: Whether the services did not say which record failed the others, so that it is found by
    ///     its change tag.
    /// - Returns: The results; a conflict whose record can't be looked up now stays without it, and is looked up by
    ///   whoever asked.
    private func addingServerRecords(
        to result: ModifyRecordsResult,
        of batch: WebBatch,
        findsConflicts: Bool = false
    ) async -> ModifyRecordsResult {
        let unclear = batch.saves.filter { record in
            guard case .failure(let error)? = result.saveResults[record.recordID] else { return false }
            return error.code == .serverRecordChanged || findsConflicts && error.code == .batchRequestFailed
        }
        if unclear.isEmpty { return result }
        var result = result
        let found: [RecordID: Result<Record, CloudError>]
        do throws(CloudError) {
            found = try await lookUp(unclear.map(\.recordID), in: batch.zoneID, desiredKeys: nil)
        } catch {
            return result
        }
        for record in unclear {
            switch found[record.recordID] {
            case .success(let server)?:
                let isConflict = !findsConflicts || server.recordChangeTag != record.recordChangeTag
                guard isConflict else { continue }
                result.saveResults[record.recordID] = .failure(
                    CloudError(.serverRecordChanged, serverRecord: server)
                )
            case .failure(let error)? where error.code == .unknownItem && record.recordChangeTag != nil:
                result.saveResults[record.recordID] = .failure(error)
            case .failure, nil: continue
            }
        }
        return result
    }

    package func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        let ids = Set(ids).sorted()
        try checkCount(ids.count)
        var zones = WebZones<(zoneID: ZoneID, ids: [RecordID])>()
        for id in ids { zones.change(id.zoneID, { ($0, []) }, { $0.ids.append(id) }) }
        var results: [RecordID: Result<Record, CloudError>] = [:]
        for (zoneID, ids) in zones.values {
            do throws(CloudError) {
                results.merge(try await lookUp(ids, in: zoneID, desiredKeys: desiredKeys)) { $1 }
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
            try await send("records/lookup", body),
            for: ids,
            WebReader(zoneID: zoneID)
        )
    }
}

extension WebAnswer {
    /// Whether nothing was changed because one of the records could not be.
    fileprivate var isAtomicFailure: Bool {
        status != 200 && json?["serverErrorCode"]?.string == "ATOMIC_ERROR"
    }
}

extension CloudError {
    /// The error of records whose request failed after that of another zone was answered.
    fileprivate static func lostBehindOthers(_ error: CloudError) -> CloudError {
        CloudError(.serverResponseLost, message: error.message, retryAfter: error.retryAfter)
    }
}
