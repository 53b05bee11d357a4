import RecordCoding

/// What engines forward to their ``container``.
extension SyncEngine {
    /// ``SyncContainer/events``: what happens in the engine, for logs.
    public var events: AsyncStream<SyncEvent> { container.events }

    /// ``SyncContainer/status``: what the engine is doing.
    public var status: AsyncStream<SyncStatus> { container.status }

    /// ``SyncContainer/accountStatus``: the account's status.
    public var accountStatus: AsyncStream<AccountStatus> { container.accountStatus }

    /// ``SyncContainer/start()``: starts syncing, or resumes it.
    ///
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func start() async throws { try await container.start() }

    /// ``SyncContainer/stop()``: pauses syncing.
    public func stop() async { await container.stop() }

    /// ``SyncContainer/deactivate()``: stops syncing for good, and deletes the subscription.
    ///
    /// - Throws: ``SyncError`` if the subscription could not be deleted; syncing is stopped all the same.
    public func deactivate() async throws { try await container.deactivate() }

    /// ``SyncContainer/close()``: stores earlier calls, ends requests and streams, and releases the state directory.
    ///
    /// - Throws: Never, but a later version may throw.
    public func close() async throws { try await container.close() }

    /// ``SyncContainer/simulateCrash()``: ends the engine as a crash of its process would, for tests.
    public func simulateCrash() async { await container.simulateCrash() }

    /// ``SyncContainer/sync()``: sends and fetches, and returns when both are done.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``; `CancellationError` if the task is cancelled.
    @discardableResult
    public func sync() async throws -> SyncSummary { try await container.sync() }

    /// ``SyncContainer/sendChanges()``: sends queued changes, and returns when all have been tried.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``; `CancellationError` if the task is cancelled.
    @discardableResult
    public func sendChanges() async throws -> SyncSummary { try await container.sendChanges() }

    /// ``SyncContainer/fetchChanges()``: fetches changes, and returns when a fetch that began after the call
    /// has ended.
    ///
    /// - Returns: Counts of what was done.
    /// - Throws: ``SyncError``; `CancellationError` if the task is cancelled.
    @discardableResult
    public func fetchChanges() async throws -> SyncSummary { try await container.fetchChanges() }

    /// ``SyncContainer/resync()``: requests a full fetch and keeps local data.
    ///
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func resync() async throws { try await container.resync() }

    /// ``SyncContainer/resolvePurge(_:)``: decides what happens to the app's data after the user removed it from
    /// the cloud.
    ///
    /// - Parameter answer: Whether to upload the data again or to remove it from this device as well.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func resolvePurge(_ answer: PurgeAnswer) async throws { try await container.resolvePurge(answer) }

    /// ``SyncContainer/handleNotification(_:)``: handles a push, and fetches changes if it is for this engine.
    ///
    /// - Parameter userInfo: The payload from the system.
    /// - Returns: Whether the push was for this engine, and whether it brought anything.
    public func handleNotification(_ userInfo: [AnyHashable: Any]) async -> NotificationOutcome {
        await container.handleNotification(userInfo)
    }

    /// ``SyncContainer/waitUntilIdle()``: returns once the engine has nothing left to do, for tests.
    public func waitUntilIdle() async { await container.waitUntilIdle() }

    /// ``SyncContainer/diagnostics()``: information about the state.
    ///
    /// - Returns: Counts, the account, the last fetch, and notes of the last 1000 discarded values, parked
    ///   changes and recoveries.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func diagnostics() async throws -> SyncDiagnostics { try await container.diagnostics() }
}
