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
    /// A newer edit replaced one that a conflict had parked.
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

/// An engine event, for logs and tests; data stays correct even if the app ignores every event.
///
/// Some events carry records, so the app can restore a discarded version. An event's description is one line
/// that contains record names but no fields.
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
    /// A call that changes models threw this error and changed nothing.
    ///
    /// It also reaches an app that doesn't await the call's task. The calls are `edit`, `upload`,
    /// `uploadOnce`, `delete`, `retry` and `discard`.
    case callRefused(recordNames: [String], SyncError)
    /// A request failed; pending changes are kept.
    case failed(CloudError)
    /// The engine makes no requests until this date.
    case waiting(until: Date)
    /// A change was parked.
    case parked(recordName: String, ParkReason)
    /// A conflict was resolved; the event carries both sides, including the discarded one.
    case conflictResolved(recordName: String, client: Record, server: Record, ConflictOutcome)
    /// A version of a record was discarded; the event carries it.
    case discarded(recordName: String, Record, DiscardReason)
    /// A record edited on this device was deleted in the cloud; if `kept`, the edit recreates it.
    case editOfDeleted(recordName: String, Record, kept: Bool)
    /// A record had too many conflicts in a row; the engine sends it again later.
    case conflictLoop(recordName: String)
    /// The user's storage in the cloud is full; changes are kept and retried at long intervals.
    case quotaExceeded
    /// The server's version of a record can't be decoded; the engine keeps it and tries again when it next
    /// opens, or in a later version of the app if a newer one wrote it.
    case undecodable(recordName: String, reason: String)
    /// A field's value is of a kind that this version of the library can't convert, such as one that a newer
    /// system has introduced; models show the field as absent.
    ///
    /// The value stays in the cloud until the app sets the field or the zone is lost. The engine reports each
    /// field once.
    case unknownValue(recordName: String, field: String, kind: String)
    /// A loop over `changes` hasn't requested its next element while 1000 changes arrived for it.
    ///
    /// The engine reports this once until the loop requests another element; `waiting` is the number of
    /// records waiting on disk. Do other asynchronous work outside the loop, and release streams that you no
    /// longer read.
    case streamStalled(waiting: Int)
    /// Records were ignored because they have another type or an unusable name, or weren't requested.
    case ignoredRecords(count: Int)
    /// A response didn't mention one of the request's records; the engine repeats the request for that
    /// record.
    case unmentioned(recordName: String)
    /// The user changed or signed out; read `allModels()` again.
    ///
    /// `from` is the last user that the app was notified of, and `to` is the user whose records it now sees;
    /// `nil` means no user. The first user of a state takes over the edits made before.
    case accountChanged(from: String?, to: String?)
    /// The signed-in user's state can't be opened; the previous user's state is unchanged, and the engine
    /// retries.
    case accountSwitchFailed(to: String, SyncError)
    /// The zone was lost; `nil` if the reason is unknown.
    case zoneLost(DatabaseChanges.Deletion.Reason?)
    /// The zone was created, or found to exist.
    case zoneReady
    /// The change token expired; the engine fetches everything.
    case listingBegan
    /// The engine couldn't create its subscription, and polls instead.
    case subscriptionFailed(CloudError)
    /// The state was damaged and has been recovered; the text names the place and what was kept.
    case stateRecovered(String)
    /// The state could not be opened, read or written; the text says why.
    case storageFailed(String)
    /// This many older events were dropped because the app didn't read the stream fast enough.
    case dropped(count: Int)
}
