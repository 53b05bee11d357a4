import RecordCoding

/// A notice from one room to the others; the machine passes it on once the room is done.
enum Notice: Equatable, Sendable {
    // The app's calls
    /// Callers that wait for a part fail; all callers if no part is given.
    case failed(SyncError, of: SyncParts?)
    /// Work in progress has queued changes, which waiting callers also wait for.
    case changesQueued

    // The account
    /// No request can succeed: the account is unusable, or the configuration is wrong.
    case unusable(CloudError)
    /// A response may come from another user's cloud, so the account is looked up again.
    case ownerDoubted
    case accountConfirmed
    /// Requests in flight may have reached another user's database, so their responses are ignored.
    case responsesDistrusted
    /// A sign-out was appended to the journal.
    case signedOut

    // The zone
    /// A request did not find the zone.
    case zoneMissing(CloudError)
    /// The zone is lost, and with it every change tag and token.
    case zoneLost
    /// The zone has accepted a change.
    case zoneProven
    /// A held response is from the known zone.
    case released(RecordResponse)

    // Records
    /// There may be changes to fetch.
    case fetchWanted
    case pageRequested
    case fetchEnded
    /// The record must be looked up by name.
    case lookUp(RecordKey)
    /// These acceptances were appended to the journal.
    case accepted([AcceptedChange])
}
