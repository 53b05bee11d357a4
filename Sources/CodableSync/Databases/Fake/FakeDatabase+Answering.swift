import RecordCoding

import struct Foundation.Date

extension FakeDatabase {
    /// The decisions about a request when it arrived.
    fileprivate struct Reception {
        var effect: FakeEffect.Kind?
        /// The user whose database is used, even if another user signs in during the request.
        var user: String
        var refusals: [ExactName: FakeEffect.Kind] = [:]
        var pageSize: Int?
    }

    /// Applies waiting faults to a request, and lets the cloud perform it.
    ///
    /// - Returns: The response, which is never a failure.
    func answer(
        _ request: FakeRequest,
        _ operation: LedgerRequest.Operation? = nil
    ) async throws(CloudError) -> LedgerResponse {
        let reception = try receive(request)
        let perform: @Sendable () -> LedgerResponse = { [self] in
            guard let operation else { return LedgerResponse.done }
            return cloud.handle(prepare(operation, request, reception), user: reception.user, from: self)
        }
        switch reception.effect {
        case .hold(let hold, afterApplying: false)?: try await hold.wait()
        case .delay(let hold, let error)?:
            hold.take { _ = perform() }
            throw error
        case .fail, .lose, .hold, .throttle, .edit, .failItem, .conflict, nil: break
        }
        var response = perform()
        refuse(in: &response, request, reception)
        switch reception.effect {
        case .lose(let error)?: throw error
        case .hold(let hold, afterApplying: true)?: try await hold.wait()
        case .edit(let edit)?: edit(&response)
        case .hold, .delay, .fail, .throttle, .failItem, .conflict, nil: break
        }
        if case .failure(let error) = response { throw error }
        return response
    }

    /// Notes the request, and throws if it does not reach the server.
    private func receive(_ request: FakeRequest) throws(CloudError) -> Reception {
        let now = cloud.now
        return try state.withLock { (state) throws(CloudError) in
            var request = request
            request.user = state.user
            state.requests.append(request)
            guard state.isReachable else { throw CloudError(.networkUnavailable) }
            if let wait = state.script.violation(at: now) {
                throw CloudError(.requestRateLimited, retryAfter: wait)
            }
            let effect = state.script.next(request.operation)
            switch effect {
            case .fail(let error)?: throw error
            case .throttle(let code, let wait)?:
                state.script.throttle(until: now.addingTimeInterval(wait / .seconds(1)))
                throw CloudError(code, retryAfter: wait)
            case .lose, .hold, .delay, .edit, .failItem, .conflict, nil: break
            }
            if request.operation.needsAccount { try state.checkAccount() }
            var reception = Reception(effect: effect, user: state.user ?? "", pageSize: state.pageSize)
            for name in request.recordNames {
                reception.refusals[named: name] = state.script.nextRefusal(of: name, request.operation)
            }
            return reception
        }
    }

    /// The operation, as modified by planned faults.
    private func prepare(
        _ operation: LedgerRequest.Operation,
        _ request: FakeRequest,
        _ reception: Reception
    ) -> LedgerRequest.Operation {
        switch operation {
        case .modifyRecords(let saving, let deleting, let policy, let atomically, var refusing, let writes):
            for id in saving.map(\.recordID) + deleting {
                let refusal = reception.refusals[named: id.recordName]
                if let error = error(of: refusal, for: id, user: reception.user) { refusing[id] = error }
            }
            return .modifyRecords(
                saving: saving,
                deleting: deleting,
                savePolicy: policy,
                atomically: atomically,
                refusing: refusing,
                writes: writes
            )
        case .databaseChanges(let token, let limit):
            return .databaseChanges(since: token, resultsLimit: reception.limit(limit))
        case .recordZoneChanges(let zoneID, let token, let keys, let limit):
            return .recordZoneChanges(
                zoneID,
                since: token,
                desiredKeys: keys,
                resultsLimit: reception.limit(limit)
            )
        case .records, .modifyRecordZones, .recordZones, .allZones, .modifySubscriptions, .allSubscriptions,
            .removeZone, .expireTokens, .setQuota:
            return operation
        }
    }

    /// The error of a record that is refused; `nil` if it is not.
    private func error(of refusal: FakeEffect.Kind?, for id: RecordID, user: String) -> CloudError? {
        switch refusal {
        case .failItem(_, let error): error
        case .conflict(_, let carriesServerRecord):
            CloudError(
                .serverRecordChanged,
                serverRecord: carriesServerRecord ? cloud.record(id, user: user) : nil
            )
        case .fail, .lose, .hold, .delay, .throttle, .edit, nil: nil
        }
    }

    /// Refuses single records in the response to a fetch, and removes the server's records from conflicts.
    private func refuse(in response: inout LedgerResponse, _ request: FakeRequest, _ reception: Reception) {
        switch response {
        case .records(var results):
            for id in request.recordIDs {
                let refusal = reception.refusals[named: id.recordName]
                if let error = error(of: refusal, for: id, user: reception.user) {
                    results[id] = .failure(error)
                }
            }
            response = .records(results)
        case .recordZoneChanges(var changes):
            for id in changes.modifications.keys {
                let refusal = state.withLock { $0.script.nextRefusal(of: id.recordName, request.operation) }
                guard let error = error(of: refusal, for: id, user: reception.user) else { continue }
                changes.modifications[id] = .failure(error)
            }
            response = .recordZoneChanges(changes)
        case .modifyRecords(var result) where !conflictsCarryServerRecord:
            result.saveResults = result.saveResults.mapValues { outcome in
                outcome.mapError { error in
                    var error = error
                    if error.code == .serverRecordChanged { error.serverRecord = nil }
                    return error
                }
            }
            response = .modifyRecords(result)
        case .modifyRecords, .modifyRecordZones, .recordZones, .allZones, .databaseChanges,
            .modifySubscriptions, .allSubscriptions, .done, .failure:
            break
        }
    }
}

extension FakeDatabase.State {
    /// Throws if there is no account, for requests that need one.
    fileprivate func checkAccount() throws(CloudError) {
        switch account {
        case .available where user != nil: return
        case .temporarilyUnavailable: throw CloudError(.accountTemporarilyUnavailable)
        case .available, .couldNotDetermine, .restricted, .noAccount: throw CloudError(.notAuthenticated)
        }
    }
}

extension FakeDatabase.Reception {
    fileprivate func limit(_ resultsLimit: Int?) -> Int? {
        [resultsLimit, pageSize].compactMap { $0 }.filter { $0 > 0 }.min()
    }
}
