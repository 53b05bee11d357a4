/// The app's calls, and what its reads could not decode.
package enum CallInput: Equatable, Sendable {
    /// The app called `start`, or used the engine for the first time.
    case start
    case stop
    /// The app stops syncing for good, and a call waits until the subscription is deleted.
    case deactivate(CallID)
    /// The app uploads, edits or deletes; either all changes are queued or none.
    ///
    /// The changes may be a part of the models that the app had before its first sync. The names are those of
    /// records that the call leaves as it found them.
    case enqueue(CallID, [NewChange], partOf: InitialModels? = nil, leaving: [String] = [])
    /// A call waits until everything is sent and fetched.
    case sync(CallID, SyncParts)
    case retry(CallID, names: [String])
    case discard(CallID, names: [String])
    case resync(CallID)
    case resolvePurge(CallID, uploadAgain: Bool)
    /// A read couldn't decode these versions.
    case decodeFailed([ReadVersion])
    /// The caller no longer waits for the call.
    case abandoned(CallID)
}
