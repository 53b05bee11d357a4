import RecordCoding

import struct Foundation.Date

/// Everything that the state machine can ask the engine to do.
///
/// Nothing happens before the turn is stored. At most one request about zones and records is in flight at a time.
package enum SyncAction: Equatable, Sendable {
    /// Stores what the turn has changed; it comes first, and everything else happens once it is stored.
    case store(TurnChanges)
    /// Makes a request to the cloud.
    case request(RequestID, CloudRequest)
    /// Cancels a request whose response is no longer needed.
    case cancel(RequestID)
    /// Replaces this state by that of the user who is now signed in.
    case switchUser(to: String)
    /// Passes the conflicts to the model's resolver.
    case reconcile([ReconcileItem])
    /// Delivers an element to a stream that waits for it.
    case deliver(StreamID, [DeliveryItem])
    /// Delivers an element without records.
    case mark(StreamID, StreamMark)
    /// Passes `timePassed` at this instant of the monotonic clock, and not at the one before it; `nil` for never.
    case wake(at: Duration?)
    case answer(CallID, CallAnswer)
    case report(Report)
}

/// A report to the app.
package enum Report: Equatable, Sendable {
    case event(SyncEvent)
    /// An event with contents, which the engine loads.
    case contentsEvent(ContentsEvent)
    case status(SyncStatus)
    case account(AccountStatus)
}

/// Events with contents that the machine names and the engine loads.
package enum ContentsEvent: Equatable, Sendable {
    case discarded(name: String, ContentHandle, DiscardReason)
    case editOfDeleted(name: String, ContentHandle, kept: Bool)
    case conflictResolved(name: String, client: ContentHandle, server: ContentHandle, ConflictOutcome)
}

extension Report {
    /// The contents that the event carries.
    var contents: [ContentHandle] {
        guard case .contentsEvent(let event) = self else { return [] }
        return switch event {
        case .discarded(_, let handle, _), .editOfDeleted(_, let handle, _): [handle]
        case .conflictResolved(_, let client, let server, _): [client, server]
        }
    }
}
