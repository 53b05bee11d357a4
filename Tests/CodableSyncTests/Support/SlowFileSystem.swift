import Foundation

@testable import CodableSync

/// A simulated disk whose flushes wait as long as a test wants them to.
///
/// `@unchecked Sendable` holds because everything mutable is guarded by `condition`.
final class SlowFileSystem: WrappingFileSystem, @unchecked Sendable {
    let base: any FileSystem = SimulatedFileSystem()
    private let condition = NSCondition()
    private var isHeld = false
    private var waiting = 0
    private var flushes = 0

    /// How many flushes wait now.
    var waitingCount: Int { locked { waiting } }
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
        locked {
            waiting += 1
            while isHeld { condition.wait() }
            waiting -= 1
            flushes += 1
        }
    }
}
