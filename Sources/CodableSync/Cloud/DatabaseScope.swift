/// Which of a container's databases is meant.
public enum DatabaseScope: String, Hashable, Sendable, Codable {
    /// Everybody's database: one default zone, no change feed.
    case `public`
    /// The user's own database.
    case `private`
    /// What others share with the user.
    case shared
}
