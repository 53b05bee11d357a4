/// Why the journal could not store a turn or read contents.
package enum JournalFailure: Equatable, Sendable, Error {
    case storageFull(String)
    case unreadable(String)

    /// What happened, where and why.
    package var detail: String {
        switch self {
        case .storageFull(let detail), .unreadable(let detail): detail
        }
    }

    /// The error that callers get.
    package var syncError: SyncError {
        switch self {
        case .storageFull(let detail): .storageFull(detail)
        case .unreadable(let detail): .storageFailed(detail)
        }
    }
}
