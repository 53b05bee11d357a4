import RecordCoding

import struct Foundation.Date

/// Numbers that identify the app's calls, requests to the cloud, journal batches and streams of changes.
package typealias CallID = UInt64
package typealias RequestID = UInt64
package typealias BatchID = UInt64
package typealias StreamID = UInt64

/// Everything that the state machine reacts to.
package enum SyncInput: Equatable, Sendable {
    /// The app called `start`, or used the engine for the first time.
    case start
    case stop
    /// The app uploads, edits or deletes; either all changes are queued or none.
    case enqueue(CallID, [NewChange])
    /// A call waits until everything is sent and fetched.
    case sync(CallID, SyncParts)
    case retry(CallID, names: [String])
    case discard(CallID, names: [String])
    case resync(CallID)
    case resolvePurge(CallID, uploadAgain: Bool)
    /// A read returned these contents to the app.
    case read([GivenContents])
    /// These versions were read and could not be decoded, so that the app has not seen them.
    case readInVain([ReadVersion])
    /// The caller no longer waits for the call.
    case abandoned(CallID)

    /// A batch of the journal is stored, and flushed if that was requested.
    case committed(BatchID)
    case commitFailed(BatchID, JournalFailure)

    /// A call needs the state of the user who is signed in.
    case switchWanted
    /// The calls that were made before a switch have ended.
    case formerCallsEnded
    /// The state of the user who is signed in could not be opened.
    case switchFailed(SyncError)
    /// This machine has replaced a former user's; `nil` if the app was already notified of that user's
    /// sign-out.
    case switched(from: String?)

    case accountChecked(RequestID, Result<CloudAccount, CloudError>)
    case zoneSaved(RequestID, CloudError?)
    case subscribed(RequestID, CloudError?)
    case databaseChanged(RequestID, Result<ZoneFate, CloudError>)
    case fetched(RequestID, Result<FetchedPage, CloudError>)
    case lookedUp(RequestID, Result<[LookedUp], CloudError>)
    case sent(RequestID, Result<[SendResult], CloudError>)
    /// The contents to send could not be read from disk; nothing was sent.
    case sendUnread(RequestID, JournalFailure)
    case reconciled([Reconciled])

    case timerFired(SyncTimer)
    case signal(CloudSignal)
    /// The database's limits have changed.
    case limitsChanged(DatabaseLimits)

    /// A stream requests its next element, which accepts the one that it holds.
    case streamRequested(StreamID)
    case streamEnded(StreamID)
    /// Changes in an element could not be decoded; `isEmpty` if the element has no others.
    case undecodable(StreamID, [UndecodableChange], isEmpty: Bool)
    /// Changes in an element were replaced by newer changes to the same records before they were delivered.
    case overtaken(StreamID, [String], isEmpty: Bool)
    /// Changes in an element cannot be read from disk at the moment.
    case unread(StreamID, [String], isEmpty: Bool)
}
