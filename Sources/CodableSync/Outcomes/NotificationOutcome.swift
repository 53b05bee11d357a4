/// The result of handling a push.
public enum NotificationOutcome: Hashable, Sendable {
    /// Changes were fetched.
    case newData
    /// The push was for this engine, and nothing new was fetched.
    case noData
    /// The push was not for this engine.
    case notOurs
}
