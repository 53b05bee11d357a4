// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Dispatch
import Foundation

/// The network of the device, and who watches it.
public enum StandInNetwork {
    /// Guarded by its lock.
    private final class Monitors: @unchecked Sendable {
        private let lock = NSLock()
        private var status = NWPath.Status.satisfied
        private var handlers: [ObjectIdentifier: @Sendable (NWPath.Status) -> Void] = [:]
        private var queues: [ObjectIdentifier: DispatchQueue] = [:]

        var count: Int { lock.withLock { handlers.count } }
        var allQueues: [DispatchQueue] { lock.withLock { Array(queues.values) } }

        func change(_ status: NWPath.Status) {
            lock.withLock {
                self.status = status
                for handler in handlers.values { handler(status) }
            }
        }

        func start(
            _ id: ObjectIdentifier,
            on queue: DispatchQueue,
            _ handler: @escaping @Sendable (NWPath.Status) -> Void
        ) {
            lock.withLock {
                handlers[id] = handler
                queues[id] = queue
                handler(status)
            }
        }

        func cancel(_ id: ObjectIdentifier) {
            lock.withLock {
                handlers[id] = nil
                queues[id] = nil
            }
        }
    }

    private static let monitors = Monitors()

    /// How many monitors were started and not cancelled.
    public static var monitorCount: Int { monitors.count }

    /// Changes the network, and tells all monitors on their queues.
    public static func change(_ status: NWPath.Status) { monitors.change(status) }

    /// Returns once all monitors have told what was changed before.
    public static func waitForMonitors() async {
        for queue in monitors.allQueues {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
    }

    static func start(
        _ monitor: NWPathMonitor,
        _ handler: (@Sendable (NWPath) -> Void)?,
        on queue: DispatchQueue
    ) {
        // The current state comes first.
        monitors.start(ObjectIdentifier(monitor), on: queue) { status in
            queue.async { handler?(NWPath(status: status)) }
        }
    }

    static func cancel(_ monitor: NWPathMonitor) { monitors.cancel(ObjectIdentifier(monitor)) }
}
