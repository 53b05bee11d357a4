public import struct Foundation.Date

/// The status of an engine.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SyncStatus: Hashable, Sendable {
    /// Why a started engine makes no requests.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum PauseReason: Hashable, Sendable {
        /// There is no usable account.
        case account(AccountStatus)
        /// The user's storage in the cloud is full; the engine retries every ten minutes and at the next
        /// `sync`.
        case quotaExceeded
        /// The app or its container is configured incorrectly.
        case configuration(CloudError)
        /// The signed-in user's state can't be opened.
        case state(SyncError)
    }

    /// There is nothing to do.
    case idle
    /// The engine is fetching changes.
    case fetching
    /// The engine is sending changes.
    case sending
    /// A request failed, the state couldn't be read or written, or the server asked for a delay; the engine
    /// retries at this date.
    case waiting(until: Date)
    /// There is no network.
    case offline
    /// The engine can't use the cloud.
    case paused(PauseReason)
    /// The user removed the app's data from the cloud in the system settings; the app must call
    /// ``SyncEngine/resolvePurge(_:)``.
    ///
    /// Until then, the engine accepts uploads and deletions, but fetches and sends no records and delivers
    /// none as deleted. It still waits after a restart.
    case waitingForDecision
    /// The engine was stopped or hasn't started; an engine that doesn't sync automatically is stopped between
    /// calls.
    case stopped
}
