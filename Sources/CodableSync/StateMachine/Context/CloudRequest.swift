/// A request to the cloud; at most one about zones and records is in flight at a time.
package enum CloudRequest: Equatable, Sendable {
    case checkAccount
    /// Creates the zone. With a mark's number, it first deletes the zone, whose records can no longer be
    /// read, and leaves that mark.
    case saveZone(mark: UInt64?)
    /// Creates the subscription; if it existed before, only if the server has lost it.
    case subscribe(isMade: Bool)
    /// Deletes the subscription.
    case unsubscribe
    case readDatabaseChanges(since: ChangeToken?)
    case fetch(since: ChangeToken?)
    case lookUp([RecordKey])
    case send([SendItem])
}
