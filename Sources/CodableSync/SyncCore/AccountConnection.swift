/// Gives access to the database only while its account is the one that the engine looked up.
struct AccountConnection: Sendable {
    /// The user may have changed, so requests for the previous user must stop.
    struct AccountChanged: Error {}

    let base: any CloudDatabase
    /// The database's account generation at the look-up.
    let generation: Int

    /// The database; read this again right before each request.
    var database: any CloudDatabase {
        get throws(AccountChanged) {
            guard base.accountGeneration == generation else { throw AccountChanged() }
            return (base as? any AccountBindable)?.bound(toAccountGeneration: generation) ?? base
        }
    }
}
