@testable import CodableSync

extension JournalEntry {
    /// I-01: the only entries that may end an acknowledged change.
    func mayEnd(_ change: LocalChange?, of name: String) -> Bool {
        guard let change else { return true }
        let key = RecordKey(name)
        switch self {
        case .calls(.queued(key, _, _)), .calls(.discarded(key)), .row(.record(key, _, _)): return true
        case .sending(.saved(key, _, let sent, _)): return sent == change.handle
        case .resolving(.resolved(key, let client, _, let resolution)):
            if case .confirmed(let sent) = resolution { return sent == change.handle }
            return client == change.handle
        case .sending(.deletionConfirmed(key)), .fetching(.deletionFetched(key)): return change.isDeletion
        case .zones(.lost), .zones(.purgeResolved): return change.isDeletion
        default: return false
        }
    }
}
