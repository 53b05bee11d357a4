import Foundation

@testable import CodableSync

/// A simulated disk whose flushes wait until a test releases them.
///
/// `@unchecked Sendable` holds because all mutable state is guarded by `condition`.
final class SlowFileSystem: WrappingFileSystem, @unchecked Sendable {
    let base: any FileSystem = SimulatedFileSystem()
    private let condition = NSCondition()
    private var isHeld = false
    /// The number of flushes that are waiting.
    let waiting = Told(0)
    private var flushes = 0

    /// The number of completed flushes.
    var flushCount: Int { locked { flushes } }

    func hold() { locked { isHeld = true } }

    func release() {
        locked {
            isHeld = false
            condition.broadcast()
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    func before(_ operation: FileError.Operation, _ path: String) {
        guard operation == .flush else { return }
        waiting.withLock { $0 += 1 }
        locked {
            while isHeld { condition.wait() }
            flushes += 1
        }
        waiting.withLock { $0 -= 1 }
    }
}
