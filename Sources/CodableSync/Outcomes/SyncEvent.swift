public import RecordCoding

public import struct Foundation.Date

/// Why a value of this device was given up.
public enum DiscardReason: String, Hashable, Sendable, Codable {
    /// The app asked for it.
    case discarded
    /// A pending deletion of this device removed an edit of another one.
    case deletion
    /// A newer edit replaced one that a conflict had set aside.
    case replaced
}

/// Which side of a conflict was kept.
public enum ConflictOutcome: String, Hashable, Sendable, Codable {
    /// The edit of this device.
    case client
    /// The cloud's value.
    case server
    /// A new model made of both.
    case merged
}

/// What happened in an engine: a log for people and for tests, never needed to keep data right.
///
/// Some events carry records, so that a value that was given up can be brought back. Printed, an event is one line
/// that names its records and never shows their fields.
public enum SyncEvent: Hashable, Sendable {
    /// A fetch began.
    case fetchBegan
    /// A fetch reached the end of the feed.
    case fetchEnded(changed: Int, deleted: Int)
    /// A request with this many changes is about to leave.
    case sendBegan(count: Int)
    /// A request was answered.
    case sendEnded(saved: Int, deleted: Int, failed: Int)
    /// A request failed; nothing is lost.
    case failed(CloudError)
    /// Nothing is requested before this date.
    case waiting(until: Date)
    /// A change was set aside.
    case parked(recordName: String, ParkReason)
    /// The model decided a conflict; both sides are here, the one that was given up among them.
    case conflictResolved(recordName: String, client: Record, server: Record, ConflictOutcome)
    /// A value was given up; here it is.
    case discarded(recordName: String, Record, DiscardReason)
    /// A record that was edited here had been deleted in the cloud; `kept` if it is created anew.
    case editOfDeleted(recordName: String, Record, kept: Bool)
    /// One record met too many conflicts in a row; it is tried again later.
    case conflictLoop(recordName: String)
    /// The user's storage is full; changes are kept and tried again rarely.
    case quotaExceeded
    /// The server's value of a record cannot be decoded; it is kept, and tried again at the next opening.
    case undecodable(recordName: String, reason: String)
    /// A loop over `changes` holds an element and has not asked for the next one while 1000 changes came for it.
    ///
    /// Told once until it asks again; `waiting` is the number of records that wait for it, on disk. Whatever else
    /// a loop waits for, do it outside of the loop; or let go of a stream that is no longer read.
    case streamStalled(waiting: Int)
    /// Records of other types, without a usable name, or that nobody asked about, were passed over.
    case ignoredRecords(count: Int)
    /// The answer to a request did not mention a record; it is sent again.
    case unmentioned(recordName: String)
    /// Another user is confirmed, or nobody is signed in any more: read `allModels()` anew.
    ///
    /// `from` is the user of whom the app was told last, `to` the user whose records it now sees; `nil` is nobody. A
    /// user who is known for the first time has taken over what was edited before.
    case accountChanged(from: String?, to: String?)
    /// The state of the user who is signed in cannot be opened; the former user's is untouched, and it is tried again.
    case accountSwitchFailed(to: String, SyncError)
    /// The zone is gone; `nil` if nobody knows why.
    case zoneLost(DatabaseChanges.Deletion.Reason?)
    /// The zone was made, or met for the first time.
    case zoneReady
    /// The change token expired; everything is fetched.
    case listingBegan
    /// The subscription could not be made; the engine polls.
    case subscriptionFailed(CloudError)
    /// The state was damaged and has been recovered; the text says what was kept and where.
    case stateRecovered(String)
    /// The state could not be opened, read or written now; the text says why.
    case stateUnwritable(String)
    /// This many older events were dropped, because nobody took them.
    case dropped(count: Int)
}
