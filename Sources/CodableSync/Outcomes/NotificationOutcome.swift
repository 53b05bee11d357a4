/// The result of handling a push.
public enum NotificationOutcome: Hashable, Sendable {
    /// The engine fetched changes.
    case newData
    /// The push was for this engine, but there was nothing new, or the engine makes no requests at the moment.
    case noData
    /// The push was for this engine, and the fetch failed; the next fetch gets the changes.
    case failed
    /// The push was not for this engine.
    case notOurs
}
