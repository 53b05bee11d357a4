/// A caller that waits until everything is sent and fetched.
struct Waiter: Equatable, Sendable {
    var call: CallID
    /// The parts of a sync that the call requested.
    var parts: SyncParts
    /// The fetch run that must end first; `nil` if the call does not wait for a fetch.
    var fetchRun: Int?
    /// The totals when the call began.
    var before: SyncSummary
    /// Why the call fails: a request failed, or the state could not be stored.
    var failure: SyncError?

    var wantsSend: Bool { parts.contains(.send) }

    func isWaiting(for part: SyncParts) -> Bool {
        (part.contains(.fetch) && fetchRun != nil) || (part.contains(.send) && wantsSend)
    }
}
