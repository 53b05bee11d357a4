#if os(Linux)
    import Dispatch
    import Foundation

    /// Runs all jobs of the concurrency runtime and all blocks of dispatch queues on one thread, in an order
    /// that a seed decides.
    ///
    /// While a simulation runs, it receives everything that its thread enqueues: `Task`, actors,
    /// continuations and `DispatchQueue.async`. Each step picks one of the ready jobs or the first block of a
    /// queue. Nothing runs in parallel, so a seed always gives the same story.
    ///
    /// `@unchecked Sendable` holds because only one thread uses it: the hooks check the thread first.
    final class JobSimulation: @unchecked Sendable {
        /// A queue and its waiting blocks.
        private struct Queue {
            let id: OpaquePointer
            var blocks: [() -> Void]
        }

        private let thread = pthread_self()
        private let executor = JobExecutor()
        private var jobs: [UnownedJob] = []
        private var queues: [Queue] = []
        private var random: SplitMix64
        /// The number of jobs and blocks that have run.
        private(set) var stepCount = 0
        /// A digest of all choices, to compare two runs of the same seed.
        private(set) var digest: UInt64 = 0

        private init(seed: UInt64) { random = SplitMix64(seed: seed) }

        /// Runs a body; everything that it enqueues waits for ``step()``.
        static func run<Result>(seed: UInt64, _ body: (JobSimulation) throws -> Result) rethrows -> Result {
            installed
            let simulation = JobSimulation(seed: seed)
            precondition(current == nil, "simulations do not nest")
            current = simulation
            defer { current = nil }
            return try body(simulation)
        }

        /// Runs one job or block.
        ///
        /// - Returns: Whether one was waiting.
        @discardableResult
        func step() -> Bool {
            let count = jobs.count + queues.count
            if count == 0 { return false }
            let choice = Int(random.next() % UInt64(count))
            stepCount += 1
            digest = (digest ^ UInt64(count << 16 | choice)) &* 0x0000_0100_0000_01b3
            if choice < jobs.count {
                jobs.remove(at: choice).runSynchronously(on: executor.asUnownedSerialExecutor())
            } else {
                runFirst(of: queues[choice - jobs.count].id)
            }
            return true
        }

        /// Runs jobs and blocks until none is left.
        ///
        /// - Parameter limit: The maximum number of steps.
        /// - Returns: Whether none is left.
        @discardableResult
        func drain(limit: Int = 200_000) -> Bool {
            for _ in 0..<limit where !step() { return true }
            return false
        }

        /// A random number derived from the seed, for code outside the jobs.
        func draw() -> UInt64 { random.next() }

        // MARK: What the hooks do

        fileprivate static nonisolated(unsafe) var current: JobSimulation?

        /// The current simulation, if this is its thread.
        fileprivate static var mine: JobSimulation? {
            guard let current, pthread_equal(current.thread, pthread_self()) != 0 else { return nil }
            return current
        }

        fileprivate func enqueue(_ job: UnownedJob) { jobs.append(job) }

        fileprivate func enqueue(_ block: @escaping () -> Void, on queue: OpaquePointer) {
            if let index = queues.firstIndex(where: { $0.id == queue }) {
                queues[index].blocks.append(block)
            } else {
                queues.append(Queue(id: queue, blocks: [block]))
            }
        }

        /// Waiting for a queue runs all of its blocks.
        fileprivate func runAll(of queue: OpaquePointer) {
            while queues.contains(where: { $0.id == queue }) { runFirst(of: queue) }
        }

        private func runFirst(of queue: OpaquePointer) {
            guard let index = queues.firstIndex(where: { $0.id == queue }) else { return }
            let block = queues[index].blocks.removeFirst()
            // A running block keeps its place, so that no other block of the queue runs meanwhile.
            if queues[index].blocks.isEmpty { queues.remove(at: index) }
            block()
        }

        private static let installed: Void = {
            guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
                fatalError("The runtime has no hook for jobs.")
            }
            symbol.assumingMemoryBound(to: JobHook?.self).pointee = { job, original in
                if let simulation = JobSimulation.mine {
                    simulation.enqueue(job)
                } else {
                    original(job)
                }
            }
        }()
    }

    /// The executor passed to each job; it is never asked to enqueue one.
    private final class JobExecutor: SerialExecutor {
        func enqueue(_ job: UnownedJob) {
            JobSimulation.mine?.enqueue(job)
        }

        func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    }

    private typealias OriginalEnqueue = @convention(thin) (UnownedJob) -> Void
    private typealias JobHook = @convention(thin) (UnownedJob, OriginalEnqueue) -> Void

    // MARK: Dispatch

    private typealias Block = @convention(block) () -> Void
    private typealias QueueCall = @convention(c) (OpaquePointer, @escaping Block) -> Void

    /// The function that a call would reach if this module did not define one of the same name.
    private func next(_ name: String) -> QueueCall {
        // Under a thread sanitizer this is the sanitizer's own function, which must see what real queues
        // receive; otherwise it is found in the libraries loaded after this one (the handle -1).
        let found =
            dlsym(dlopen(nil, RTLD_NOW), "__interceptor_" + name)
            ?? dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
        guard let found else { fatalError("There is no \(name).") }
        return unsafeBitCast(found, to: QueueCall.self)
    }

    private let nextAsync = next("dispatch_async")
    private let nextSync = next("dispatch_sync")

    /// Replaces the library's function in the test process.
    @_cdecl("dispatch_async")
    public func simulatedAsync(_ queue: OpaquePointer, _ block: @escaping @convention(block) () -> Void) {
        if let simulation = JobSimulation.mine {
            simulation.enqueue(block, on: queue)
        } else {
            nextAsync(queue, block)
        }
    }

    /// Replaces `dispatch_sync` the same way.
    @_cdecl("dispatch_sync")
    public func simulatedSync(_ queue: OpaquePointer, _ block: @escaping @convention(block) () -> Void) {
        if let simulation = JobSimulation.mine {
            simulation.runAll(of: queue)
            block()
        } else {
            nextSync(queue, block)
        }
    }
#endif
