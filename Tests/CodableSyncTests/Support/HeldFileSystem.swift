import Foundation

@testable import CodableSync

/// Holds one call to a file system until a test lets it go on, and lets the test wait until it is held.
final class FileHold: Sendable {
    private let gate = Gate()
    private let semaphore = DispatchSemaphore(value: 0)

    /// Called by the file system: stands still here.
    fileprivate func stand() {
        let gate = gate
        Task { try await gate.pass() }
        semaphore.wait()
    }

    /// Returns once the call is held.
    func reached() async { await gate.reached() }

    /// Lets the call go on.
    func release() {
        gate.open()
        semaphore.signal()
    }
}

/// Another file system, whose calls can be held and counted: one process among several that use the same files.
final class HeldFileSystem: FileSystem {
    private struct State {
        var holds: [(operation: FileError.Operation, name: String, hold: FileHold)] = []
        var counts: [FileError.Operation: Int] = [:]
    }

    private let base: any FileSystem
    private let state = Locked(State())

    init(_ base: any FileSystem) { self.base = base }

    /// Holds the next call of this kind on a file whose name begins like this.
    func hold(_ operation: FileError.Operation, _ name: String = "") -> FileHold {
        let hold = FileHold()
        state.withLock { $0.holds.append((operation, name, hold)) }
        return hold
    }

    /// How many calls of a kind were begun.
    func count(_ operation: FileError.Operation) -> Int {
        state.withLock { $0.counts[operation, default: 0] }
    }

    fileprivate func begin(_ operation: FileError.Operation, _ path: String) {
        let hold = state.withLock { state -> FileHold? in
            state.counts[operation, default: 0] += 1
            let name = path.lastPathComponent
            let index = state.holds.firstIndex { $0.operation == operation && name.hasPrefix($0.name) }
            return index.map { state.holds.remove(at: $0).hold }
        }
        hold?.stand()
    }

    func createDirectory(at path: String) throws(FileError) {
        begin(.createDirectory, path)
        try base.createDirectory(at: path)
    }

    func contents(ofDirectory path: String) throws(FileError) -> [String] {
        begin(.list, path)
        return try base.contents(ofDirectory: path)
    }

    func status(of path: String) throws(FileError) -> FileStatus? {
        begin(.look, path)
        return try base.status(of: path)
    }

    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        begin(access == .replacing ? .create : .open, path)
        return HeldOpenFile(try base.openFile(at: path, for: access), self)
    }

    func rename(_ path: String, to newPath: String) throws(FileError) {
        begin(.rename, path)
        try base.rename(path, to: newPath)
    }

    func remove(_ path: String) throws(FileError) {
        begin(.remove, path)
        try base.remove(path)
    }

    func syncDirectory(_ path: String) throws(FileError) {
        begin(.syncDirectory, path)
        try base.syncDirectory(path)
    }

    func lock(_ path: String, waiting: Bool) throws(FileError) -> LockOutcome {
        begin(.lock, path)
        return try base.lock(path, waiting: waiting)
    }
}

private final class HeldOpenFile: OpenFile {
    private let base: any OpenFile
    private let fileSystem: HeldFileSystem

    init(_ base: any OpenFile, _ fileSystem: HeldFileSystem) {
        self.base = base
        self.fileSystem = fileSystem
    }

    var path: String { base.path }
    var identity: FileIdentity { base.identity }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        fileSystem.begin(.append, path)
        try base.append(bytes)
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        fileSystem.begin(.read, path)
        return try base.read(at: offset, into: buffer)
    }

    func size() throws(FileError) -> UInt64 { try base.size() }

    func flush() throws(FileError) {
        fileSystem.begin(.flush, path)
        try base.flush()
    }

    func truncate(to size: UInt64) throws(FileError) {
        fileSystem.begin(.truncate, path)
        try base.truncate(to: size)
    }

    func close() { base.close() }
}
