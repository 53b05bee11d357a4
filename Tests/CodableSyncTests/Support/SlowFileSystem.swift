import Foundation

@testable import CodableSync

/// A simulated disk whose flushes wait as long as a test wants them to.
///
/// `@unchecked Sendable` holds because everything mutable is guarded by `condition`.
final class SlowFileSystem: WrappingFileSystem, @unchecked Sendable {
    let base: any FileSystem = SimulatedFileSystem()
    private let condition = NSCondition()
    private var isHeld = false
    /// How many flushes wait now.
    let waiting = Told(0)
    private var flushes = 0

    /// How many flushes were done.
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
