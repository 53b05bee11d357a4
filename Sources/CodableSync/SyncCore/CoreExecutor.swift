import Dispatch

/// Runs a core's jobs one after the other on a dispatch queue, so that a write to the disk blocks no thread of
/// the tasks.
final class CoreExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "CodableSync.core", qos: .userInitiated)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    // The minimum systems lack the defaults of the functions below.

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    /// `nil`: it is unknown without ``checkIsolated()``.
    func isIsolatingCurrentContext() -> Bool? { nil }
}
