/// Why an engine waits for a decision that only the app, or its user, can make.
///
/// Until the decision is made, no records are fetched or sent, and none is told as deleted; uploads and deletions
/// are accepted.
/// The state is kept over restarts.
public enum DecisionReason: String, Hashable, Sendable, Codable {
    /// The user removed the app's data from the cloud in the system's settings; call `resolvePurge`.
    case purged
}
