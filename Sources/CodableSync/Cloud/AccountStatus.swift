/// Whether there is a user whose data may be reached.
public enum AccountStatus: String, Hashable, Sendable, Codable {
    /// The account could not be looked up; nothing is known.
    case couldNotDetermine
    /// A user is signed in and may be used.
    case available
    /// Parental controls or device management forbid it.
    case restricted
    /// Nobody is signed in.
    case noAccount
    /// Somebody is signed in, and must attend to the account first.
    case temporarilyUnavailable
}
