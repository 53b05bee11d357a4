/// Forwards the system's events to an app's engines: pushes, becoming active, going to the background, and background
/// tasks.
///
/// ```swift
/// enum Sync {
///     static let notes = SyncEngine<Note>()
///     static let lifecycle = AppLifecycle(of: notes.container)
/// }
/// ```
///
/// Create one for all containers of the app, and call it from the app's delegate. On Apple platforms it also has
/// methods that take the system's own types. It keeps the containers alive.
public struct AppLifecycle: Sendable {
    /// The containers, in the order in which their errors are thrown.
    package let containers: [SyncContainer]
    let clock: any SyncClock

    /// Creates a lifecycle without starting anything.
    ///
    /// - Parameters:
    ///   - containers: The containers of all engines of the app.
    ///   - clock: The source of the time; the system's by default.
    public init(of containers: SyncContainer..., clock: any SyncClock = SystemClock()) {
        self.containers = containers
        self.clock = clock
    }

    /// Passes a push to all containers concurrently, and returns once their fetches end, or when the time is up.
    ///
    /// You can call it on the main actor with the dictionary from the system. See
    /// ``SyncContainer/handleNotification(_:)``.
    ///
    /// - Parameters:
    ///   - userInfo: The payload from the system.
    ///   - limit: The maximum time to wait, 25 seconds by default, since the system gives an app about 30. When it
    ///     is up, fetches that have not ended count as failed, and continue while the app runs.
    /// - Returns: `newData` if a container fetched changes; otherwise `failed` if a fetch failed; `noData` if
    ///   there was nothing new; `notOurs` if the push was for no container.
    public func handleNotification(
        _ userInfo: [AnyHashable: Any],
        within limit: Duration = .seconds(25)
    ) async -> NotificationOutcome {
        // A payload cannot leave its actor, but what is read from it can.
        let pushes = containers.compactMap { container in
            container.notification(in: userInfo).map { (core: container.core, push: $0) }
        }
        if pushes.isEmpty { return .notOurs }
        let end = self.end(after: limit)
        return await withTaskGroup(of: NotificationOutcome?.self) { [clock] group in
            for (core, push) in pushes { group.addTask { await core.take(push) } }
            group.addTask {
                do {
                    try await clock.sleep(until: end)
                } catch {
                    // All fetches have ended.
                }
                return nil
            }
            var outcomes: [NotificationOutcome] = []
            while let outcome = await group.next() {
                if let outcome { outcomes.append(outcome) }
                if outcome == nil || outcomes.count == pushes.count { group.cancelAll() }
            }
            return [NotificationOutcome.newData, .failed].first(where: outcomes.contains) ?? .noData
        }
    }

    /// The monotonic time at which a limit ends; a day from now at the latest.
    func end(after limit: Duration) -> Duration {
        clock.now.monotonic + min(limit, .seconds(24 * 3600))
    }

    /// Sends the queued changes of all containers concurrently, and returns once each has finished.
    ///
    /// See ``SyncContainer/sendChanges()``. If one fails, the others continue.
    ///
    /// - Throws: The error of the first container that failed.
    public func sendChanges() async throws {
        try await forAll { _ = try await $0.sendChanges() }
    }

    /// Sends what is stored, and then also what edits are about to store.
    ///
    /// The closure of an edit in a view needs the main actor, which may stand still while the app quits.
    func sendLastChanges() async throws {
        try await forAll { _ = try await $0.core.sync(.send, waitsForEdits: false) }
        try await sendChanges()
    }

    /// Syncs all containers concurrently, and returns once each has finished.
    ///
    /// See ``SyncContainer/sync()``. If one fails, the others continue.
    ///
    /// - Throws: The error of the first container that failed.
    public func sync() async throws {
        try await forAll { _ = try await $0.sync() }
    }

    /// Syncs all containers that the app has not stopped, when the user has returned to the app.
    ///
    /// Call it when the app becomes active: in `applicationDidBecomeActive(_:)`, in a scene delegate's
    /// `sceneDidBecomeActive(_:)`, or when SwiftUI's scene phase becomes `active`. Other devices' changes then arrive
    /// although no push did, and edits wait no longer for a retry. Calls in quick succession share requests.
    ///
    /// - Returns: The task that syncs. It throws what ``sync()`` throws; the engines report failures in their status
    ///   and events as well.
    @discardableResult
    public func didBecomeActive() -> Task<Void, any Error> {
        Task { try await syncUnlessStopped() }
    }

    /// Syncs all containers that the app has not stopped.
    func syncUnlessStopped() async throws {
        try await forAll { try await $0.syncUnlessStopped() }
    }

    private func forAll(_ work: @escaping @Sendable (SyncContainer) async throws -> Void) async throws {
        let errors = await withTaskGroup(of: (index: Int, error: (any Error)?).self) { group in
            for (index, container) in containers.enumerated() {
                group.addTask {
                    do {
                        try await work(container)
                        return (index, nil)
                    } catch {
                        return (index, error)
                    }
                }
            }
            return await group.reduce(into: [Int: any Error]()) { $0[$1.index] = $1.error }
        }
        if let first = errors.keys.min(), let error = errors[first] { throw error }
    }
}
