import Foundation

@testable import CodableSync

/// A disk in front of which a test does something, or waits, when a file is touched.
final class HookedFileSystem: FileSystem {
    let base: any FileSystem
    private let hook = Locked<(@Sendable (FileError.Operation, String) throws(FileError) -> Void)?>(nil)

    init(_ base: any FileSystem = SimulatedFileSystem()) {
        self.base = base
    }

    /// Called before each operation on a name in a directory; it may block.
    func before(_ body: (@Sendable (FileError.Operation, String) throws(FileError) -> Void)?) {
        hook.withLock { $0 = body }
    }

    private func touch(_ operation: FileError.Operation, _ path: String) throws(FileError) {
        let body = hook.withLock { $0 }
        try body?(operation, path)
    }

    func createDirectory(at path: String) throws(FileError) {
        try touch(.createDirectory, path)
        try base.createDirectory(at: path)
    }

    func contents(ofDirectory path: String) throws(FileError) -> [String] {
        try touch(.list, path)
        return try base.contents(ofDirectory: path)
    }

    func status(of path: String) throws(FileError) -> FileStatus? {
        try touch(.look, path)
        return try base.status(of: path)
    }

    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        try touch(.open, path)
        return try base.openFile(at: path, for: access)
    }

    func rename(_ path: String, to newPath: String) throws(FileError) {
        try touch(.rename, newPath)
        try base.rename(path, to: newPath)
    }

    func remove(_ path: String) throws(FileError) {
        try touch(.remove, path)
        try base.remove(path)
    }

    func syncDirectory(_ path: String) throws(FileError) {
        try touch(.syncDirectory, path)
        try base.syncDirectory(path)
    }

    func lock(_ path: String, waiting: Bool) throws(FileError) -> LockOutcome {
        try touch(.lock, path)
        return try base.lock(path, waiting: waiting)
    }
}

/// Stops the first thread that comes by, until a test lets it go.
final class Barrier: Sendable {
    private let isTaken = Locked(false)
    private let release = DispatchSemaphore(value: 0)
    private let hasArrived = Locked(false)

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

    /// Whether somebody is, or was, stopped.
    var isReached: Bool { hasArrived.withLock { $0 } }

    func open() { release.signal() }
}
