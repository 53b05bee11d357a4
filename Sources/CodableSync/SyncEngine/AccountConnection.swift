/// The database, for as long as its account is the one that was looked up.
struct AccountConnection: Sendable {
    /// Somebody else may be here: nothing is asked for on behalf of who was.
    struct AccountChanged: Error {}

    let base: any CloudDatabase
    /// What the database said of its account then.
    let generation: Int

    /// To be taken anew right before each request.
    var database: any CloudDatabase {
        get throws(AccountChanged) {
            guard base.accountGeneration == generation else { throw AccountChanged() }
            return base
        }
    }
}
