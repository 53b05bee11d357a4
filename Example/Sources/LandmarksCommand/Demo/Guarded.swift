import Foundation

/// A value protected by a lock.
final class Guarded<Value: Sendable>: @unchecked Sendable {
    // Sendable, since `value` is only used in `withLock`.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
