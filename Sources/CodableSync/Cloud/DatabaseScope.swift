/// One of a container's databases.
public enum DatabaseScope: String, Hashable, Sendable, Codable {
    /// The database shared by all users, with one default zone and no change feed.
    case `public`
    /// The user's own database.
    case `private`
    /// Records that others share with the user.
    case shared
}
