/// What is known about the account since the engine was opened.
enum AccountStage: Equatable, Sendable {
    case unknown
    case confirmed(String)
    case unavailable(AccountStatus)
    /// Another user's account: nothing in this state may be used for it.
    case other(String)
}
