import class Foundation.NSLock

/// A value that several threads share, reached only while its lock is held.
///
/// `@unchecked Sendable` holds because `value` is private and touched inside `withLock` alone.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
    }

    /// Runs a short piece of work on the value; it must not wait for anything else.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
