public import struct Foundation.Date

/// The status of an engine.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SyncStatus: Hashable, Sendable {
    /// Why an engine makes no requests although it was started.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum PauseReason: Hashable, Sendable {
        /// There is no user account that can be used.
        case account(AccountStatus)
        /// The user's storage in the cloud is full; the engine tries again every ten minutes, and in the next
        /// `sync`.
        case quotaExceeded
        /// The app or its container is configured incorrectly.
        case configuration(CloudError)
        /// The state of the user who is signed in cannot be opened.
        case state(SyncError)
    }

    /// There is nothing to do.
    case idle
    /// Changes are being fetched.
    case fetching
    /// Changes are being sent.
    case sending
    /// A request failed, the state could not be read or written, or the server ordered a wait; the next
    /// attempt is at this date.
    case waiting(until: Date)
    /// There is no network.
    case offline
    /// The cloud cannot be used.
    case paused(PauseReason)
    /// The user removed the app's data from the cloud in the system's settings; the app must decide by
    /// ``SyncEngine/resolvePurge(_:)``.
    ///
    /// Until then, no records are fetched or sent, and none is delivered as deleted; uploads and deletions are
    /// accepted. The engine still waits after a restart.
    case waitingForDecision
    /// The engine was stopped or not started yet; an engine that does not sync automatically is stopped
    /// between its calls.
    case stopped
}
