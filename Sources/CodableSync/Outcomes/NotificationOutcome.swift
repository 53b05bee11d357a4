/// The result of handling a push.
public enum NotificationOutcome: Hashable, Sendable {
    /// The engine fetched changes.
    case newData
    /// The push was for this engine, but there was nothing new.
    case noData
    /// The push was not for this engine.
    case notOurs
}
