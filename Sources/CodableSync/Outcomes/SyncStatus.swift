public import struct Foundation.Date

/// What an engine is doing.
public enum SyncStatus: Hashable, Sendable {
    /// Why an engine does not talk to the cloud although it was started.
    public enum PauseReason: Hashable, Sendable {
        /// There is no user whose data may be reached.
        case account(AccountStatus)
        /// The user's storage in the cloud is full; it is tried again every ten minutes, and by the next `sync`.
        case quotaExceeded
        /// App or container are set up wrongly.
        case configuration(CloudError)
        /// The state of the user who is signed in cannot be opened.
        case state(SyncError)
    }

    /// Nothing is to be done.
    case idle
    /// Changes are being fetched.
    case fetching
    /// Changes are being sent.
    case sending
    /// A request failed, the state could not be read or written, or the server ordered a wait; the next try is at this
    /// date.
    case waiting(until: Date)
    /// There is no network.
    case offline
    /// The cloud cannot be used.
    case paused(PauseReason)
    /// The app must decide something before anything goes on: after a purge, by `resolvePurge`.
    case waitingForDecision(DecisionReason)
    /// The engine was stopped, or not started yet, as one that does not sync automatically is between its calls.
    case stopped
}
