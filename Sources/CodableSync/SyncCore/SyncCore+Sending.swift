import RecordCoding

/// Building send requests from the items that the machine names, and returning the result of each item to it.
extension SyncCore {
    func send(_ request: RequestID, _ items: [SendItem]) {
        var outgoing = OutgoingRequest(
            items: items,
            zoneID: zoneID,
            recordType: model.recordType,
            schemaVersion: model.schemaVersion,
            encryptedFields: Set(model.encryptedFields)
        )
        // Handles are made before sending, so that a version fetched before the response arrives gets a
        // greater handle, as it is newer.
        for item in items where item.handle != nil { outgoing.handles[item.name] = newHandle() }
        let files = files
        perform(request) { [outgoing] connection -> Result<OutgoingRequest, JournalFailure> in
            guard let files else { throw CancellationError() }
            var outgoing = outgoing
            do {
                outgoing.make(from: try await files.load(outgoing.neededContents))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                return .failure(JournalFailure(error))
            }
            if outgoing.isEmpty { return .success(outgoing) }
            outgoing.answer = try await connection.database.modifyRecords(
                saving: outgoing.saves,
                deleting: outgoing.deletions,
                savePolicy: .ifServerRecordUnchanged,
                atomically: false
            )
            return .success(outgoing)
        } then: { core, result in
            switch result {
            case .success(.success(let outgoing)): core.takeSent(request, .success(outgoing))
            case .success(.failure(let failure)): core.process(.sendLoadFailed(request, failure))
            case .failure(let error): core.takeSent(request, .failure(error))
            }
        }
    }

    private func takeSent(_ request: RequestID, _ result: Result<OutgoingRequest, CloudError>) {
        var contents: [ContentHandle: Record] = [:]
        if case .success(let outgoing) = result, outgoing.unexpectedResultCount > 0 {
            emit(.ignoredRecords(count: outgoing.unexpectedResultCount))
        }
        let results = result.map { outgoing in
            outgoing.items.map { item in
                SendResult(
                    key: item.key,
                    handle: item.handle,
                    outcome: outcome(of: item, in: outgoing, &contents),
                    retryAfter: outgoing.error(of: item)?.retryAfter
                )
            }
        }
        process(.response(request, results.map { .sendResults($0) }), contents: contents)
    }

    private func outcome(
        of item: SendItem,
        in outgoing: OutgoingRequest,
        _ contents: inout [ContentHandle: Record]
    ) -> SendResult.Outcome {
        let recordID = RecordID(recordName: item.name, zoneID: zoneID)
        if let reason = outgoing.newer[item.name] { return .undecodable(reason) }
        guard item.handle != nil else {
            guard let error = outgoing.answer.deleteResults[recordID] else { return .unmentioned }
            return error.map { .failed($0) } ?? .deleted
        }
        if let reason = outgoing.unreadable[item.name] { return .unreadable(reason) }
        if let reason = outgoing.lost[item.name] { return .copyUnreadable(reason) }
        if outgoing.unchanged.contains(item.name) { return .unchanged }
        switch outgoing.answer.saveResults[recordID] {
        case nil:
            return .unmentioned
        case .success(let server)?:
            // A response without a change tag or about another record cannot be trusted; the next attempt finds
            // out what the server has.
            guard server.recordChangeTag?.isEmpty == false, isOurs(server, named: recordID)
            else { return .unmentioned }
            let stored = outgoing.stored(server, of: item)
            return .saved(stage(stored, as: outgoing.handles[item.name], in: &contents))
        case .failure(let error)?:
            guard error.recovery == .resolveConflict else { return .failed(error) }
            // A record with another name or type is not the conflicting one.
            guard let server = error.serverRecord, isOurs(server, named: recordID)
            else { return .conflict(server: nil) }
            if server.exceedsJournalLine { return .undecodable(CloudError.tooLarge(server).message) }
            return .conflict(server: stage(server, in: &contents))
        }
    }
}
