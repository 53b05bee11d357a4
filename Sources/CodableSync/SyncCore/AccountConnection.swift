/// Gives access to the database as long as its account is the one that was looked up.
struct AccountConnection: Sendable {
    /// The user may have changed, so no request may be made for the former user.
    struct AccountChanged: Error {}

    let base: any CloudDatabase
    /// The database's account generation at the look-up.
    let generation: Int

    /// The database; read this again right before each request.
    var database: any CloudDatabase {
        get throws(AccountChanged) {
            guard base.accountGeneration == generation else { throw AccountChanged() }
            return base
        }
    }
}
