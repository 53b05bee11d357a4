// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Dispatch
public import Foundation

/// The system's side of background tasks.
///
/// Guarded by its lock; handlers run on their queues, as the system runs them.
public final class StandInTasks: @unchecked Sendable {
    public static let shared = StandInTasks()

    /// A scheduled task.
    public struct Request: Hashable, Sendable {
        public let identifier: String
        public let earliestBeginDate: Date?
        public let requiresNetworkConnectivity: Bool

        public init(identifier: String, earliestBeginDate: Date?, requiresNetworkConnectivity: Bool) {
            self.identifier = identifier
            self.earliestBeginDate = earliestBeginDate
            self.requiresNetworkConnectivity = requiresNetworkConnectivity
        }
    }

    /// A task that is running.
    public final class Run: Sendable {
        let expiration: @Sendable () -> Void
        private let result: AsyncStream<Bool>

        init(_ result: AsyncStream<Bool>, expiration: @escaping @Sendable () -> Void) {
            self.result = result
            self.expiration = expiration
        }

        /// Ends the task's time.
        public func expire() { expiration() }

        /// Waits for the task's end.
        public func isSuccess() async -> Bool? {
            for await success in result { return success }
            return nil
        }
    }

    private let lock = NSLock()
    private var permitted: Set<String> = []
    private var handlers: [String: (DispatchQueue, (BGTask) -> Void)] = [:]
    private var scheduled: [Request] = []
    private var refusal: BGTaskScheduler.Error.Code?
    private var registers = true

    /// Forgets everything, and permits the identifiers of an `Info.plist`.
    public func reset(permitted identifiers: Set<String>) {
        lock.withLock {
            permitted = identifiers
            handlers = [:]
            scheduled = []
            refusal = nil
            registers = true
        }
    }

    /// Refuses all further registrations.
    public func refuseRegistrations() { lock.withLock { registers = false } }

    /// Refuses all further requests; `nil` ends that.
    public func refuse(_ code: BGTaskScheduler.Error.Code?) { lock.withLock { refusal = code } }

    /// The requests that wait for the system.
    public var requests: [Request] { lock.withLock { scheduled } }

    func register(
        _ identifier: String,
        _ queue: DispatchQueue?,
        _ handler: @escaping (BGTask) -> Void
    ) -> Bool {
        lock.withLock {
            guard registers, permitted.contains(identifier) else { return false }
            precondition(handlers[identifier] == nil, "NSInternalInconsistencyException: registered twice")
            handlers[identifier] = (queue ?? DispatchQueue(label: "background tasks"), handler)
            return true
        }
    }

    func submit(_ request: BGTaskRequest) throws {
        let new = Request(
            identifier: request.identifier,
            earliestBeginDate: request.earliestBeginDate,
            requiresNetworkConnectivity: (request as? BGProcessingTaskRequest)?.requiresNetworkConnectivity
                ?? false
        )
        try lock.withLock {
            if let refusal { throw BGTaskScheduler.Error(refusal) }
            guard permitted.contains(new.identifier) else { throw BGTaskScheduler.Error(.notPermitted) }
            precondition(
                handlers[new.identifier] != nil,
                "NSInternalInconsistencyException: No launch handler registered for the task"
            )
            scheduled.removeAll { $0.identifier == new.identifier }
            scheduled.append(new)
        }
    }

    /// Starts a scheduled task on its queue, and returns when its handler has returned.
    public func run(_ identifier: String) async -> Run? {
        await withCheckedContinuation { (continuation: CheckedContinuation<Run?, Never>) in
            lock.lock()
            defer { lock.unlock() }
            guard let (queue, handler) = handlers[identifier],
                let index = scheduled.firstIndex(where: { $0.identifier == identifier })
            else { return continuation.resume(returning: nil) }
            scheduled.remove(at: index)
            let (results, end) = AsyncStream.makeStream(of: Bool.self)
            nonisolated(unsafe) let start = handler
            queue.async {
                // Used by the handler, and then by the one who ends it; the handler has returned by then.
                nonisolated(unsafe) let task = BGProcessingTask(identifier: identifier) { success in
                    end.yield(success)
                    end.finish()
                }
                start(task)
                continuation.resume(returning: Run(results) { task.expirationHandler?() })
            }
        }
    }
}
