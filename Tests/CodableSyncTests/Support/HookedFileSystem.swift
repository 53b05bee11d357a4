import Foundation

@testable import CodableSync

/// A disk that runs a test's closure, which may block, before each operation.
final class HookedFileSystem: WrappingFileSystem {
    let base: any FileSystem
    private let hook = Locked<(@Sendable (FileError.Operation, String) throws(FileError) -> Void)?>(nil)

    init(_ base: any FileSystem = SimulatedFileSystem()) {
        self.base = base
    }

    /// Sets the closure that runs before each operation; it may block.
    func before(_ body: (@Sendable (FileError.Operation, String) throws(FileError) -> Void)?) {
        hook.withLock { $0 = body }
    }

    func before(_ operation: FileError.Operation, _ path: String) throws(FileError) {
        let body = hook.withLock { $0 }
        try body?(operation, path)
    }
}

/// Stops the first thread that passes, until a test opens it.
final class Barrier: Sendable {
    private let isTaken = Locked(false)
    private let release = DispatchSemaphore(value: 0)
    private let hasArrived = Told(false)

    /// Blocks the first caller.
    func pass() {
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFirst else { return }
        hasArrived.withLock { $0 = true }
        release.wait()
    }

    /// Returns once a thread is stopped.
    func reached(file: StaticString = #filePath, line: UInt = #line) async {
        await hasArrived.reach("a thread is stopped", file: file, line: line) { $0 }
    }

    func open() { release.signal() }
}
