/// Whether a user is signed in.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AccountStatus: String, Hashable, Sendable, Codable {
    /// The account could not be looked up.
    case couldNotDetermine
    /// A user is signed in, and the engine may use the account.
    case available
    /// Parental controls or device management forbid using the account.
    case restricted
    /// No user is signed in.
    case noAccount
    /// A user is signed in but must resolve a problem with the account first.
    case temporarilyUnavailable
}
