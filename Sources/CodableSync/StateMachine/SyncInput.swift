import RecordCoding

/// Numbers that identify the app's calls, requests to the cloud and streams of changes.
package typealias CallID = UInt64
package typealias RequestID = UInt64
package typealias StreamID = UInt64

/// Everything that the state machine reacts to.
package enum SyncInput: Equatable, Sendable {
    /// The state was opened, maybe by another version of the app than before.
    case opened
    case calls(CallInput)
    case account(AccountInput)
    case response(RequestID, CloudResult)
    /// The contents to send could not be loaded from disk; nothing was sent.
    case sendLoadFailed(RequestID, JournalFailure)
    case reconciled([Reconciled])
    case delivery(DeliveryInput)
    /// A request has waited so long on this device before it was sent, maybe in parts.
    case requestWaited(RequestID, Duration)
    /// An instant has come for which the machine asked.
    case timePassed
    case signal(CloudSignal)
    /// The database's limits have changed.
    case limitsChanged(DatabaseLimits)
}
