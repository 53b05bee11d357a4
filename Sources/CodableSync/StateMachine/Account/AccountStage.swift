/// What the engine has learned about the account since it opened.
enum AccountStage: Equatable, Sendable {
    case unknown
    case confirmed(String)
    case unavailable(AccountStatus)
    /// Another user's account: nothing in this state may be used for it.
    case other(String)
}
