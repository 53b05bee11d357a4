import RecordCoding

extension SyncStatus: CustomStringConvertible {
    /// The status in a few words, such as `waiting until 2026-05-01 09:00:00 +0000`.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .idle: "idle"
        case .fetching: "fetching"
        case .sending: "sending"
        case .waiting(let date): "waiting until \(date.text)"
        case .offline: "offline"
        case .paused(let reason): "paused: \(reason)"
        case .waitingForDecision: "waiting for a decision: the user removed the app's data from the cloud"
        case .stopped: "stopped"
        }
    }
}

extension SyncStatus.PauseReason: CustomStringConvertible {
    /// The reason in a few words.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .account(let status): "account: \(status)"
        case .quotaExceeded: "the cloud storage is full"
        case .configuration(let error): "\(error)"
        case .state(let error): "\(error)"
        }
    }
}
