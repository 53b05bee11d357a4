import RecordCoding

/// What all copies of an engine share: one account, one state on this device, one queue of calls.
///
/// Get it from ``SyncEngine/container``. It ends when the last reference to it is released, whether an engine or
/// your code holds that.
public final class SyncContainer: Sendable {
    let core: SyncCore

    init(_ core: SyncCore) {
        self.core = core
    }

    deinit { core.resources.beginRelease() }

    // MARK: Streams

    /// The engine's events, for logs; a stream buffers the newest 1000 and reports how many it dropped.
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
    /// The response to a request in flight is still processed. If this is the engine's first call, the engine does
    /// not start by itself.
    public func stop() async {
        await core.stop()
    }

    /// Stops syncing, as ``stop()`` does, and deletes the subscription, so that the cloud sends no more pushes.
    ///
    /// Call it when the user switches sync off for good. Pending changes stay on this device. The next ``start()``
    /// resumes syncing and creates the subscription again. After the next launch, the first call of any kind but
    /// ``stop()`` does so too, if ``SyncConfiguration/automaticallySyncs`` is on.
    ///
    /// Engines of one zone share its subscription. While another engine of this process that was not deactivated uses
    /// the zone, the subscription stays; deactivating the last one deletes it. Engines of other processes on this
    /// device are not known.
    ///
    /// In CloudKit, subscriptions belong to the user: another device of the user, on which the app still syncs,
    /// creates it again at its next start or within a day.
    ///
    /// - Throws: ``SyncError`` if the state cannot be used, if no user is signed in, or if the request failed, for
    ///   example without a network. Syncing is stopped even so; call it again to retry.
    public func deactivate() async throws {
        try await core.deactivate()
    }

    /// Stores the calls that were made before, ends requests and streams, and releases the state directory.
    ///
    /// Calls that change models after this one throw ``SyncError/Code-swift.enum/closed``. The next engine that opens
    /// this state sends the pending changes.
    ///
    /// An earlier edit may wait for the actor of its closure. So don't block that actor until this call returns: after
    /// 5 seconds of the engine's clock, or once this call's task is cancelled, calls that still wait throw
    /// ``SyncError/Code-swift.enum/closed`` as well. If the state's files are being compacted, the call waits until that
    /// is done.
    ///
    /// - Throws: Never, but a later version may throw.
    public func close() async throws {
        await core.close()
    }

    /// Ends the engine as a crash of its process would, for tests.
    ///
    /// From then on the engine stores, sends and accepts nothing. Edits whose calls had returned are on disk; others
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
    /// Returns when the change of every call made before has been tried, and a fetch that began after the call has
    /// ended. It waits for earlier edits whose closures have not run yet. Concurrent calls share requests. The call cuts the engine's own waits after failures short, but not a
    /// wait that the server has ordered. You can call it from a loop over ``SyncEngine/changes``, and from a task
    /// that a resolver starts.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``: `waiting` during a wait that the server ordered, `stopped`,
    ///   `waitingForDecision`, or `cloud` if a request failed; `CancellationError` if the task is cancelled.
    @discardableResult
    public func sync() async throws -> SyncSummary {
        try await core.sync([.fetch, .send])
    }

    /// Syncs, unless the app has stopped the engine, which then has nothing to do.
    func syncUnlessStopped() async throws {
        do {
            try await sync()
        } catch let error as SyncError where error.code == .stopped {
            return
        }
    }

    /// Sends the changes of all calls made before, and returns when all have been tried.
    ///
    /// Use this when the app is about to be suspended. It fetches nothing, and cuts the engine's wait after a
    /// failure short.
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

    /// Requests a full fetch and keeps local data; records that are no longer in the cloud are delivered as
    /// `.deleted`.
    ///
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func resync() async throws {
        try await core.resync()
    }

    /// Decides what happens to the data on this device after the user removed the app's data from the cloud.
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
    /// The call sends nothing, and never traps on a payload.
    ///
    /// - Parameter userInfo: The payload from the system.
    /// - Returns: `notOurs` if the push is not for this engine; `newData` if the fetch returned changes;
    ///   `noData` if it returned none or was not tried; `failed` if it failed, which ``status`` and ``events``
    ///   explain.
    public func handleNotification(_ userInfo: [AnyHashable: Any]) async -> NotificationOutcome {
        guard let notification = notification(in: userInfo) else { return .notOurs }
        return await core.take(notification)
    }

    /// The push in a payload; `nil` if it is not for this container.
    func notification(in userInfo: [AnyHashable: Any]) -> CloudNotification? {
        core.database.notification(from: userInfo).flatMap { core.isOurs($0) ? $0 : nil }
    }

    // MARK: Watching

    /// Returns once the engine has nothing left to do at the clock's current time, for tests.
    ///
    /// At that moment no call that was made before is waiting, the engine isn't requesting, storing, decoding,
    /// resolving or delivering anything, no sleep is over, and every signal from the database has been received. The
    /// call does not wait for a later time, for the app or for the network: advance the clock, take elements from
    /// ``SyncEngine/changes`` or restore the network, and call it again. It knows the signals of ``FakeDatabase``, ``LocalDatabase``, and a
    /// database around one of them (``CloudDatabase/wrappedDatabase``), and also waits until your own stream of
    /// signals has received them.
    ///
    /// ```swift
    /// try await phone.upload(note)
    /// await phone.waitUntilIdle()                      // it was sent
    /// clock.advance(by: .seconds(300))
    /// await phone.waitUntilIdle()                      // the poll is over
    /// ```
    ///
    /// ``SyncConfiguration/sendDelay`` is such a later time: with a manual clock, set it to zero. A request that is
    /// held by a ``FakeHold`` or is never answered does not count. The call does not open the engine; an engine that was never opened, or is closed, is
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
