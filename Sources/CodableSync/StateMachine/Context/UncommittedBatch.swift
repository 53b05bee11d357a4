/// Entries that are applied but not stored yet, and what happens once they are.
struct UncommittedBatch: Equatable, Sendable {
    var batch: BatchID
    var entries: [JournalEntry] = []
    var then = Outcome.nothing
    /// The values that the entries have replaced.
    var image = StateImage()
    /// Events about the entries, emitted once they are stored.
    var events: [Report] = []
    /// Whether entries before this batch were stored without a flush and still need one.
    var isFlushOwed = false
    enum Outcome: Equatable, Sendable {
        case nothing
        /// One of the app's calls returns.
        case answer(CallID)
        /// A call to `resync` returns, and the full listing may begin.
        case resync(CallID)
        /// A call to `resolvePurge` returns, and the zone may be recreated.
        case purgeResolved(CallID)
        /// The request that the entries describe may be sent.
        case send(RequestID)
        /// The page is stored.
        case page(moreComing: Bool)
        /// The results of a request are stored.
        case sent
        case lookedUp
        /// The resolutions for these records are stored; `deferring` lists those with too many conflicts in a
        /// row.
        case reconciled([RecordKey], deferring: [RecordKey])
        /// The zone, or the position in the database's feed, is stored.
        case zoneStored
        case subscribed
        /// The confirmed user is stored as the owner of the state.
        case claimed(String)
        /// The sign-out is stored; with a user, the app is notified that this user has signed out.
        case signedOut(String?)
        /// The outcome of examining the zone is stored.
        case zoneExamined
        /// The start of a full listing is stored.
        case listingBegan
        /// The stream may get the element that was chosen for it.
        case deliver(StreamID)
        /// What the streams give from their beginning is stored.
        case replayBegan

        /// The call that waits for the batch.
        var call: CallID? {
            switch self {
            case .answer(let call), .resync(let call), .purgeResolved(let call): call
            case .nothing, .send, .page, .sent, .lookedUp, .reconciled, .zoneStored, .subscribed, .claimed,
                .signedOut, .zoneExamined, .listingBegan, .deliver, .replayBegan:
                nil
            }
        }
    }
}
