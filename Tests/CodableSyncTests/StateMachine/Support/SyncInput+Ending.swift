@testable import CodableSync

extension SyncInput {
    /// I-01: the only inputs that may end or replace an acknowledged change.
    func mayEnd(_ change: LocalChange, of name: String) -> Bool {
        switch self {
        case .calls(.enqueue(_, let changes, _, _)): return changes.contains { $0.name == name }
        case .calls(.discard(_, let names)): return names.contains(name)
        case .records(.sent(_, .success(let results))):
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
        case .records, .zone, .calls(.resolvePurge): return change.isDeletion
        default: return false
        }
    }
}
