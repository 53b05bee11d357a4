import Foundation

/// A value that any thread may use, one at a time.
final class Guarded<Value: Sendable>: @unchecked Sendable {
    // Sendable, since `value` is touched in `withLock` only, and `lock` lets one thread in.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
