import Foundation

@testable import CodableSync

/// Holds one file-system call until a test releases it, and lets the test wait until it is held.
final class FileHold: Sendable {
    private let gate = Gate()
    private let semaphore = DispatchSemaphore(value: 0)

    /// Blocks the file system that calls this.
    fileprivate func stand() {
        let gate = gate
        Task { try await gate.pass() }
        semaphore.wait()
    }

    /// Returns once the call is held.
    func reached() async { await gate.reached() }

    /// Releases the call.
    func release() {
        gate.open()
        semaphore.signal()
    }
}

/// A file system whose calls can be held and counted, for one of several processes that share the same files.
final class HeldFileSystem: WrappingFileSystem {
    private struct State {
        var holds: [(operation: FileError.Operation, name: String, hold: FileHold)] = []
        var counts: [FileError.Operation: Int] = [:]
    }

    let base: any FileSystem
    private let state = Locked(State())

    init(_ base: any FileSystem) { self.base = base }

    /// Holds the next call of this kind on a file whose name has this prefix.
    func hold(_ operation: FileError.Operation, _ name: String = "") -> FileHold {
        let hold = FileHold()
        state.withLock { $0.holds.append((operation, name, hold)) }
        return hold
    }

    /// The number of calls of a kind that have begun.
    func count(_ operation: FileError.Operation) -> Int {
        state.withLock { $0.counts[operation, default: 0] }
    }

    func before(_ operation: FileError.Operation, _ path: String) {
        let hold = state.withLock { state -> FileHold? in
            state.counts[operation, default: 0] += 1
            let name = path.lastPathComponent
            let index = state.holds.firstIndex { $0.operation == operation && name.hasPrefix($0.name) }
            return index.map { state.holds.remove(at: $0).hold }
        }
        hold?.stand()
    }
}
