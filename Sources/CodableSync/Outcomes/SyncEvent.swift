public import RecordCoding

public import struct Foundation.Date

/// Why a version of a record was discarded.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DiscardReason: String, Hashable, Sendable, Codable {
    /// The app called `discard`.
    case discarded
    /// A pending deletion on this device discarded another device's edit.
    case deletion
    /// A newer edit replaced one that was parked by a conflict.
    case replaced
}

/// Which side of a conflict was kept.
public enum ConflictOutcome: String, Hashable, Sendable, Codable {
    /// This device's edit.
    case client
    /// The cloud's version.
    case server
    /// A new model that merges both.
    case merged
}

/// An event in an engine, for logs and tests; data stays correct even if an app ignores all events.
///
/// Some events carry records, so that a discarded version can be restored. An event's description is one line
/// with record names and without fields.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SyncEvent: Hashable, Sendable {
    /// A fetch began.
    case fetchBegan
    /// A fetch reached the end of the feed.
    case fetchEnded(changed: Int, deleted: Int)
    /// A request with this many changes is about to be sent.
    case sendBegan(count: Int)
    /// The response to a request arrived.
    case sendEnded(saved: Int, deleted: Int, failed: Int)
    /// A call that changes models threw this error, and so changed nothing.
    ///
    /// It also reaches an app that doesn't await the call's task. The calls are `edit`, `upload`, `uploadOnce`,
    /// `delete`, `retry` and `discard`.
    case callRefused(recordNames: [String], SyncError)
    /// A request failed; pending changes are kept.
    case failed(CloudError)
    /// The engine makes no request before this date.
    case waiting(until: Date)
    /// A change was parked.
    case parked(recordName: String, ParkReason)
    /// A conflict was resolved; the event carries both sides, including the discarded one.
    case conflictResolved(recordName: String, client: Record, server: Record, ConflictOutcome)
    /// A version of a record was discarded; the event carries it.
    case discarded(recordName: String, Record, DiscardReason)
    /// A record that was edited on this device was deleted in the cloud; with `kept`, the edit creates it
    /// again.
    case editOfDeleted(recordName: String, Record, kept: Bool)
    /// A record had too many conflicts in a row; it is sent again later.
    case conflictLoop(recordName: String)
    /// The user's storage in the cloud is full; changes are kept and retried at long intervals.
    case quotaExceeded
    /// The server's version of a record cannot be decoded; it is kept, and decoded again at the next opening,
    /// or by a later version of the app if a newer one has written it.
    case undecodable(recordName: String, reason: String)
    /// A loop over `changes` holds an element and has not requested the next one while 1000 changes arrived
    /// for it.
    ///
    /// It is reported once until the loop requests another element; `waiting` is the number of records that
    /// wait on disk. Do other asynchronous work outside of the loop, and release streams that you no longer
    /// read.
    case streamStalled(waiting: Int)
    /// Records were ignored, since they have another type, have no usable name, or were not requested.
    case ignoredRecords(count: Int)
    /// The response to a request did not mention a record; the request is repeated for it.
    case unmentioned(recordName: String)
    /// The user has changed or signed out; read `allModels()` again.
    ///
    /// `from` is the last user that the app was notified of, and `to` is the user whose records it now sees;
    /// `nil` means that there is none. The first user of a state takes over the edits made before.
    case accountChanged(from: String?, to: String?)
    /// The state of the user who is signed in cannot be opened; the former user's state is unchanged, and the
    /// engine tries again.
    case accountSwitchFailed(to: String, SyncError)
    /// The zone was lost; `nil` if the reason is unknown.
    case zoneLost(DatabaseChanges.Deletion.Reason?)
    /// The zone was created, or found to exist.
    case zoneReady
    /// The change token expired; the engine fetches everything.
    case listingBegan
    /// The subscription could not be created; the engine polls instead.
    case subscriptionFailed(CloudError)
    /// The state was damaged and has been recovered; the text names the place and what was kept.
    case stateRecovered(String)
    /// The state could not be opened, read or written; the text says why.
    case storageFailed(String)
    /// This many older events were dropped because the stream was not read fast enough.
    case dropped(count: Int)
}
