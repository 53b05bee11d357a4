import class Dispatch.DispatchSemaphore
import class Foundation.Thread

/// Continues a deep recursion on a stack that is large enough for the maximum depth of nesting.
///
/// A level of coding takes 1 to 3 KB of stack, and the threads of tasks have 512 KB on Apple's systems, which
/// is too little for 512 levels. Values that deep are rare, so the cost of a thread does not matter.
enum DeepCall {
    /// Up to this level, the caller's own stack is large enough.
    private static let shallowDepth = 48

    private static let threadName = "RecordCoding.DeepCall"

    /// Performs a call; if the recursion is deep, on another thread while the caller waits.
    static func perform<Value>(depth: Int, _ body: () throws -> Value) throws -> Value {
        guard depth > shallowDepth, Thread.current.name != threadName else { return try body() }
        let outcome = withoutActuallyEscaping(body) { body in
            let call = Call(body)
            let thread = Thread { call.run() }
            thread.name = threadName
            thread.stackSize = 4 << 20
            thread.start()
            return call.wait()
        }
        guard let outcome else { return try body() }
        return try outcome.get()
    }
}

/// One call that another thread runs.
///
/// Sharing is safe although the body is not `Sendable`: the thread that created it only waits until the other
/// thread has run the body and released it.
private final class Call<Value>: @unchecked Sendable {
    private var body: (() throws -> Value)?
    private var outcome: Result<Value, any Error>?
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping () throws -> Value) { self.body = body }

    func run() {
        runBody()
        done.signal()
    }

    /// Runs the body; never inlined, so that no copy of the body outlives the call.
    @inline(never)
    private func runBody() {
        if let body { outcome = Result(catching: body) }
        body = nil
    }

    func wait() -> Result<Value, any Error>? {
        done.wait()
        return outcome
    }
}
