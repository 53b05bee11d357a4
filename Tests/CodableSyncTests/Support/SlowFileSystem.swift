import Foundation

@testable import CodableSync

/// A simulated disk whose flushes wait as long as a test wants them to.
///
/// `@unchecked Sendable` holds because everything mutable is guarded by `condition`.
final class SlowFileSystem: FileSystem, @unchecked Sendable {
    let base = SimulatedFileSystem()
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

    fileprivate func passFlush() {
        locked {
            waiting += 1
            while isHeld { condition.wait() }
            waiting -= 1
            flushes += 1
        }
    }

    func createDirectory(at path: String) throws(FileError) { try base.createDirectory(at: path) }
    func contents(ofDirectory path: String) throws(FileError) -> [String] {
        try base.contents(ofDirectory: path)
    }
    func status(of path: String) throws(FileError) -> FileStatus? { try base.status(of: path) }
    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        SlowOpenFile(base: try base.openFile(at: path, for: access), disk: self)
    }
    func rename(_ path: String, to newPath: String) throws(FileError) { try base.rename(path, to: newPath) }
    func remove(_ path: String) throws(FileError) { try base.remove(path) }
    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
    func lock(_ path: String, waiting: Bool) throws(FileError) -> LockOutcome {
        try base.lock(path, waiting: waiting)
    }
}

private final class SlowOpenFile: OpenFile {
    private let base: any OpenFile
    private let disk: SlowFileSystem

    init(base: any OpenFile, disk: SlowFileSystem) {
        self.base = base
        self.disk = disk
    }

    var path: String { base.path }
    var identity: FileIdentity { base.identity }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) { try base.append(bytes) }
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try base.read(at: offset, into: buffer)
    }
    func size() throws(FileError) -> UInt64 { try base.size() }
    func flush() throws(FileError) {
        disk.passFlush()
        try base.flush()
    }
    func truncate(to size: UInt64) throws(FileError) { try base.truncate(to: size) }
    func close() { base.close() }
}
