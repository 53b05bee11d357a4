import RecordCoding

/// What all copies of an engine share: one account, one state on this device, one queue of calls.
///
/// Get it from ``SyncEngine/container``. It is released, and ends, with the last engine that uses it; keep it, and
/// it keeps them alive.
public final class SyncContainer: Sendable {
    let core: SyncCore

    init(_ core: SyncCore) {
        self.core = core
    }

    // MARK: Streams

    /// What happens in the engine, for logs; a stream buffers the newest 1000 events and counts those that it
    /// drops.
    public var events: AsyncStream<SyncEvent> {
        core.eventHub.stream { [requests = core.requests] in requests.ask(.wake) }
    }

    /// The status; a stream starts with the current status and skips values that it is too slow to receive.
    public var status: AsyncStream<SyncStatus> {
        core.statusHub.stream { [requests = core.requests] in requests.ask(.wake) }
    }

    /// The account's status; a stream starts with the last known status.
    public var accountStatus: AsyncStream<AccountStatus> {
        core.accountHub.stream { [requests = core.requests] in requests.ask(.wake) }
    }

    // MARK: Starting and ending

    /// Starts syncing, or resumes it after ``stop()``.
    ///
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func start() async throws {
        try await core.start()
    }

    /// Pauses syncing: no new requests are made, while uploads are accepted and streams stay live.
    ///
    /// A response to a request in flight is still processed. If this is the first call, the engine does not
    /// start by itself.
    public func stop() async {
        await core.stop()
    }

    /// Stores queued edits, ends requests and streams, and releases the directory.
    ///
    /// If the state's files are being compacted, the call waits until that is done. Later calls throw
    /// ``SyncError/Code-swift.enum/closed``. The next engine that opens this state sends the pending changes.
    ///
    /// - Throws: Never, but a later version may throw.
    public func close() async throws {
        await core.close()
    }

    /// Ends the engine as a crash of its process would, for tests.
    ///
    /// The engine stores, sends and accepts nothing more. Edits whose calls had returned are on disk; others
    /// may or may not be. An element of ``SyncEngine/changes`` that a loop is still handling is delivered again, one
    /// record at a time. Requests in flight are abandoned, whether or not the server has performed them.
    /// Waiting calls throw ``SyncError/Code-swift.enum/closed``, streams end, and the next engine can open the state at once.
    /// The call does not simulate a power loss: written data survives, whether it was flushed or not.
    public func simulateCrash() async {
        await core.simulateCrash()
    }

    // MARK: Syncing

    /// Sends and fetches, and returns when both are done.
    ///
    /// Returns when everything that was queued before the call has been tried, and a fetch that began after
    /// the call has ended. Concurrent calls share requests. The call ends the engine's own waits after
    /// failures, but not a wait that the server ordered. You can call it from a loop over ``SyncEngine/changes``, and
    /// from a task that a resolver starts.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``: `waiting` during a wait that the server ordered, `stopped`,
    ///   `waitingForDecision`, or `cloud` if a request failed; `CancellationError` if the task is cancelled.
    @discardableResult
    public func sync() async throws -> SyncSummary {
        try await core.sync([.fetch, .send])
    }

    /// Sends queued changes, and returns when all have been tried.
    ///
    /// Use this when the app is about to be suspended. It fetches nothing, and ends the engine's wait after a
    /// failure.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``, as ``sync()`` does.
    @discardableResult
    public func sendChanges() async throws -> SyncSummary {
        try await core.sync(.send)
    }

    /// Fetches changes, and returns when a fetch that began after the call has ended.
    ///
    /// Conflicts found by the fetch are resolved before the call returns, except for records that are being
    /// sent at that moment.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``, as ``sync()`` does.
    @discardableResult
    public func fetchChanges() async throws -> SyncSummary {
        try await core.sync(.fetch)
    }

    /// Requests a full fetch and keeps local data; records that no longer exist are then delivered as
    /// `.deleted`.
    ///
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func resync() async throws {
        try await core.resync()
    }

    /// Decides what happens to the app's data after the user removed it from the cloud.
    ///
    /// If no decision is pending, for example because another call has made it, the call has no effect.
    ///
    /// - Parameter answer: Whether to upload the data again or to remove it from this device as well.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func resolvePurge(_ answer: PurgeAnswer) async throws {
        try await core.resolvePurge(answer)
    }

    /// Handles a push, and fetches changes if the push is for this engine.
    ///
    /// Pass every remote notification to every engine; each recognises its own by container, scope,
    /// subscription and zone. A push without a zone or container may be for any engine, so the engine
    /// fetches. Concurrent pushes share fetches, and a repeated notification is ignored.
    ///
    /// - Before the first start, the call opens the engine, as any call does, and waits for the first fetch.
    /// - It fetches even if ``SyncConfiguration/automaticallySyncs`` is off, because the app asked for it.
    /// - Nothing is requested while the engine is stopped, closed or without a user, during a wait that the
    ///   server ordered, and before ``resolvePurge(_:)``; the next fetch gets the changes.
    ///
    /// The call sends nothing, and accepts any payload without trapping.
    ///
    /// - Parameter userInfo: The payload from the system.
    /// - Returns: `notOurs` if the push is not for this engine; `newData` if the fetch returned changes;
    ///   `noData` if it returned none, failed, or was not tried.
    public func handleNotification(_ userInfo: [AnyHashable: Any]) async -> NotificationOutcome {
        guard let notification = core.database.notification(from: userInfo), core.isOurs(notification) else {
            return .notOurs
        }
        return await core.take(notification)
    }

    // MARK: Watching

    /// Returns once the engine has nothing left to do at the clock's time, for tests.
    ///
    /// The engine is then not requesting, storing, decoding, resolving or delivering anything, no timer is
    /// due, and no signal from the database is waiting to be received. The call does not wait for a later
    /// time, for the app or for the network: advance the clock, take elements from ``SyncEngine/changes`` or restore the
    /// network, and call it again. Signals are taken into account for ``FakeDatabase``, ``LocalDatabase``,
    /// and a ``ForwardingDatabase`` in front of one of them. Signals that your own stream of them has not
    /// received count as well.
    ///
    /// ```swift
    /// try await phone.upload(note)
    /// await phone.waitUntilIdle()                      // it was sent
    /// clock.advance(by: .seconds(300))
    /// await phone.waitUntilIdle()                      // the poll is over
    /// ```
    ///
    /// An edit that waits for others to be sent with waits for a later time: on a manual clock, set
    /// ``SyncConfiguration/sendDelay`` to zero. A request that is held by a ``FakeHold`` or is never answered
    /// does not count. The call does not open the engine; an engine that was never opened, or is closed, is
    /// idle. It returns early if the task is cancelled.
    public func waitUntilIdle() async {
        await core.waitUntilIdle()
    }

    /// Returns information about the engine's state.
    ///
    /// Complexity: O(n log n) in the undecodable records; independent of the number of other records.
    ///
    /// - Returns: Counts, the account, the last fetch, and notes of the last 1000 discarded values, parked
    ///   changes and recoveries.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func diagnostics() async throws -> SyncDiagnostics {
        try await core.diagnostics()
    }
}
