// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

/// The background tasks of an app, as the system counts them.
///
/// Guarded by its lock.
final class StandInBackground: @unchecked Sendable {
    private let lock = NSLock()
    private var isRefused = false
    private var running: [UIBackgroundTaskIdentifier: (@MainActor @Sendable () -> Void)?] = [:]
    private var last = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []

    var isRunning: Bool { lock.withLock { !running.isEmpty } }
    var begun: Int { lock.withLock { last } }

    func refuse() { lock.withLock { isRefused = true } }

    func begin(_ handler: (@MainActor @Sendable () -> Void)?) -> UIBackgroundTaskIdentifier {
        lock.withLock {
            if isRefused { return .invalid }
            last += 1
            let identifier = UIBackgroundTaskIdentifier(rawValue: last)
            running[identifier] = .some(handler)
            return identifier
        }
    }

    func end(_ identifier: UIBackgroundTaskIdentifier) {
        let (wasRunning, woken) = lock.withLock {
            let wasRunning = running.removeValue(forKey: identifier) != nil
            defer { if running.isEmpty { waiters = [] } }
            return (wasRunning, running.isEmpty ? waiters : [])
        }
        precondition(wasRunning, "a background task was ended that had not begun or had ended")
        for waiter in woken { waiter.resume() }
    }

    func ended() async {
        await withCheckedContinuation { waiter in
            let hasEnded = lock.withLock {
                if !running.isEmpty { waiters.append(waiter) }
                return running.isEmpty
            }
            if hasEnded { waiter.resume() }
        }
    }

    @MainActor func expire() {
        for handler in lock.withLock({ Array(running.values) }) { handler?() }
        precondition(!isRunning, "the system ends an app whose background task has not ended now")
    }
}

extension UIApplication {
    /// Whether a background task is running.
    public var standInIsInBackgroundTask: Bool { standIn.isRunning }
    /// How many background tasks have begun.
    public var standInBackgroundTasks: Int { standIn.begun }

    /// How often the app has registered for remote notifications.
    public var standInRegistrations: Int { registrations }

    /// Ends the time of all background tasks, as the system does.
    public func standInExpire() { standIn.expire() }

    /// Returns once no background task is running.
    public func standInEndOfBackgroundTasks() async { await standIn.ended() }

    /// Refuses all further background tasks.
    public func standInRefuseBackgroundTasks() { standIn.refuse() }
}
