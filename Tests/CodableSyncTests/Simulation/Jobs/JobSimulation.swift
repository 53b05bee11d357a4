#if os(Linux)
    import Dispatch
    import Foundation

    /// Runs all jobs of the concurrency runtime and all blocks of dispatch queues on one thread, in an order that a seed
    /// decides.
    ///
    /// While a simulation runs, what its thread enqueues goes nowhere but here: `Task`, actors, continuations, and
    /// `DispatchQueue.async`. Jobs are chosen among all that are ready, blocks among the first of each queue. Nothing runs
    /// at the same time as anything else, so that a seed gives the same story each time.
    ///
    /// `@unchecked Sendable` holds because one thread alone uses it: the hooks look at the thread first.
    final class JobSimulation: @unchecked Sendable {
        /// A queue, and what waits in it.
        private struct Queue {
            let id: OpaquePointer
            var blocks: [() -> Void]
        }

        private let thread = pthread_self()
        private let executor = JobExecutor()
        private var jobs: [UnownedJob] = []
        private var queues: [Queue] = []
        private var random: SplitMix64
        /// How many jobs and blocks were run.
        private(set) var stepCount = 0
        /// A digest of all choices, to compare two runs of a seed.
        private(set) var digest: UInt64 = 0

        private init(seed: UInt64) { random = SplitMix64(seed: seed) }

        /// Runs a body in which everything that is enqueued waits for ``step()``.
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
        /// - Returns: Whether there was one.
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
        /// - Parameter limit: So many at most.
        /// - Returns: Whether none is left.
        @discardableResult
        func drain(limit: Int = 200_000) -> Bool {
            for _ in 0..<limit where !step() { return true }
            return false
        }

        /// A number of the seed, for whoever plays beside the jobs.
        func draw() -> UInt64 { random.next() }

        // MARK: What the hooks do

        fileprivate static nonisolated(unsafe) var current: JobSimulation?

        /// The simulation, for what its own thread enqueues.
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

        /// Whoever waits for a queue runs what stands in it.
        fileprivate func runAll(of queue: OpaquePointer) {
            while queues.contains(where: { $0.id == queue }) { runFirst(of: queue) }
        }

        private func runFirst(of queue: OpaquePointer) {
            guard let index = queues.firstIndex(where: { $0.id == queue }) else { return }
            let block = queues[index].blocks.removeFirst()
            // It stays in its place while it runs: nothing else of the queue may run meanwhile.
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

    /// What a job is told that it runs on; it is never asked to enqueue one.
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

    /// The function that would be called if this module did not define one of that name.
    private func next(_ name: String) -> QueueCall {
        // A thread sanitizer has put its own there, which must see what goes to real queues; otherwise it is that of the
        // libraries that come after this one, which the handle -1 means.
        let found =
            dlsym(dlopen(nil, RTLD_NOW), "__interceptor_" + name)
            ?? dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
        guard let found else { fatalError("There is no \(name).") }
        return unsafeBitCast(found, to: QueueCall.self)
    }

    private let nextAsync = next("dispatch_async")
    private let nextSync = next("dispatch_sync")

    /// Takes the place of the library's function in the process of the tests.
    @_cdecl("dispatch_async")
    public func simulatedAsync(_ queue: OpaquePointer, _ block: @escaping @convention(block) () -> Void) {
        if let simulation = JobSimulation.mine {
            simulation.enqueue(block, on: queue)
        } else {
            nextAsync(queue, block)
        }
    }

    /// The same: whoever waits for a queue runs what stands in it.
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
