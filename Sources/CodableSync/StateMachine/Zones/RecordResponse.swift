import RecordCoding

/// A response about records.
package enum RecordResponse: Equatable, Sendable {
    case fetched(RequestID, Result<FetchedPage, CloudError>)
    case lookedUp(RequestID, Result<[LookedUp], CloudError>)
    case sent(RequestID, Result<[SendResult], CloudError>)

    var request: RequestID {
        switch self {
        case .fetched(let request, _), .lookedUp(let request, _), .sent(let request, _): request
        }
    }

    // MARK: Which responses may come from another zone

    /// Whether the response may come from another zone than the known records.
    func mayBeFromAnother(than zone: ZoneNumber, _ state: SyncState) -> Bool {
        switch self {
        // A change token belongs to one zone; without one, the page may be from any zone.
        case .fetched(_, let result): result.isSuccess && state.zone(zone).token == nil
        case .lookedUp(_, .success(let found)): found.contains { isDoubtful($0, state) }
        case .lookedUp(_, .failure): false
        case .sent(_, .success(let results)): results.contains { isDoubtful($0, state) }
        case .sent(_, .failure(let error)):
            ([error] + error.itemErrors.values).contains { $0.recovery == .acceptDeletion }
        }
    }

    private func isDoubtful(_ found: LookedUp, _ state: SyncState) -> Bool {
        guard case .success(let version) = found.result, let record = state[found.key] else { return false }
        guard let known = record.known else { return record.hasVersions }
        return version?.version.isSameVersion(as: known) != true
    }

    private func isDoubtful(_ result: SendResult, _ state: SyncState) -> Bool {
        guard state[result.key]?.hasVersions == true else { return false }
        switch result.outcome {
        case .conflict(.some): return true
        case .failed(let error): return error.recovery == .acceptDeletion && result.handle != nil
        default: return false
        }
    }

    /// Starts the waits that the response orders now rather than when the response is processed, and returns
    /// the response without them.
    func obeyingWaits(_ context: inout SyncContext) -> RecordResponse {
        switch self {
        case .sent(let request, .success(var results)):
            for index in results.indices {
                guard case .failed(let error) = results[index].outcome else { continue }
                results[index].outcome = .failed(context.obey(error))
            }
            return .sent(request, .success(results))
        case .sent(let request, .failure(var error)):
            // In the order of the names, so that equal responses lead to equal actions.
            for id in error.itemErrors.keys.sorted(by: RecordID.precedes) {
                error.itemErrors[id] = error.itemErrors[id].map { context.obey($0) }
            }
            return .sent(request, .failure(context.obey(error)))
        case .lookedUp(let request, .success(let found)):
            return .lookedUp(
                request,
                .success(
                    found.map { LookedUp(key: $0.key, result: $0.result.mapError { context.obey($0) }) }
                )
            )
        case .fetched, .lookedUp: return self
        }
    }
}

extension SyncContext {
    fileprivate mutating func obey(_ error: CloudError) -> CloudError {
        applyRetryAfter(of: error)
        var error = error
        error.retryAfter = nil
        return error
    }
}

extension RecordID {
    /// The order of two IDs, by the bytes of their names.
    fileprivate static func precedes(_ first: RecordID, _ second: RecordID) -> Bool {
        let names = { (id: RecordID) in
            [id.recordName, id.zoneID.zoneName, id.zoneID.ownerName].map { Array($0.utf8) }
        }
        for (one, other) in zip(names(first), names(second)) where one != other {
            return one.lexicographicallyPrecedes(other)
        }
        return false
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
