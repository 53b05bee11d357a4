/// Why an engine waits for a decision that only the app, or its user, can make.
///
/// Until the decision is made, no records are fetched or sent, and none is delivered as deleted; uploads and
/// deletions are accepted. The engine still waits after a restart.
public enum DecisionReason: String, Hashable, Sendable, Codable {
    /// The user removed the app's data from the cloud in the system's settings; call `resolvePurge`.
    case purged
}
