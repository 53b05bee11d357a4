@testable import CodableSync

extension SyncInput {
    /// I-01: the only inputs that may end or replace an acknowledged change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - name: Its record.
    ///   - requests: The requests that responses belong to.
    /// - Returns: Whether the input may end it.
    func mayEnd(_ change: LocalChange, of name: String, _ requests: [RequestID: CloudRequest]) -> Bool {
        switch self {
        case .calls(.enqueue(_, let changes, _, _)): return changes.contains { $0.name == name }
        case .calls(.discard(_, let names)): return names.contains(name)
        case .response(_, .success(.sendResults(let results))):
            return results.contains { result in
                guard result.name == name else { return false }
                switch result.outcome {
                case .saved, .unchanged: return result.handle == change.handle
                default: return change.isDeletion
                }
            }
        case .reconciled(let results):
            return results.contains { result in
                guard result.item.name == name else { return false }
                if case .confirmed(let sent) = result.resolution { return sent == change.handle }
                return result.item.client == change.handle
            }
        case .response(let id, _):
            switch requests[id] {
            case .checkAccount, .subscribe, .unsubscribe, nil: return false
            case .saveZone, .readDatabaseChanges, .fetch, .lookUp, .send: return change.isDeletion
            }
        case .calls(.resolvePurge): return change.isDeletion
        default: return false
        }
    }
}
