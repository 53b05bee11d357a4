import class Foundation.NSLock

/// A value that several threads share, accessed only while its lock is held.
///
/// `@unchecked Sendable` is correct because `value` is private and accessed only inside `withLock`.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
    }

    /// Runs a short closure on the value; it must not wait for anything else.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
