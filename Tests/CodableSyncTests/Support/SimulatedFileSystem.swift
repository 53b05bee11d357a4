import Foundation

@testable import CodableSync

/// A file system in memory that loses unflushed writes when the power fails, and fails on request.
///
/// Every call is counted. A crash creates the file system of the next start from the flushed contents.
/// `@unchecked Sendable` holds because all mutable state is in `disk`, behind `condition`.
final class SimulatedFileSystem: FileSystem, @unchecked Sendable {
    private let condition = NSCondition()
    private var disk = SimulatedDisk()

    init(_ disk: SimulatedDisk = SimulatedDisk()) {
        self.disk = disk
    }

    func withDisk<Result>(_ body: (inout SimulatedDisk) throws(FileError) -> Result) throws(FileError)
        -> Result
    {
        condition.lock()
        defer { condition.unlock() }
        return try body(&disk)
    }

    // MARK: What tests say and see

    /// All calls so far.
    var calls: [SimulatedDisk.Call] { withDisk { $0.calls } }

    /// The number of bytes written so far.
    var writtenBytes: Int { withDisk { $0.writtenBytes } }

    /// Fails one call of this kind, after `count` others.
    func fail(_ kind: FileError.Operation, after count: Int = 0, code: Int32, torn: Int? = nil) {
        withDisk { $0.faults.append(.init(kind: kind, remaining: count, code: code, torn: torn)) }
    }

    /// Removes planned faults that have not happened yet.
    func clearFaults() {
        withDisk { $0.faults = [] }
    }

    /// Leaves room for this many more bytes; `nil` for no limit.
    func leaveRoom(for bytes: Int?) {
        withDisk { $0.room = bytes }
    }

    /// Turns the power off at a call, counted from 0: the call is skipped, performed or performed in part,
    /// and all later ones fail.
    func powerOff(at call: Int, _ moment: SimulatedDisk.Moment) {
        withDisk { $0.powerOff = (call, moment) }
    }

    /// Turns the power off after a number of further calls.
    func powerOff(after count: Int, _ moment: SimulatedDisk.Moment) {
        withDisk { $0.powerOff = ($0.calls.count + count, moment) }
    }

    /// Turns the power off at the next call.
    func powerOffNow() {
        withDisk { $0.powerOff = ($0.calls.count, .before) }
    }

    /// Whether the power is off.
    var isOff: Bool { withDisk { $0.isOff } }

    /// Whether a power loss is planned.
    var isDoomed: Bool { withDisk { $0.powerOff != nil } }

    /// The disk at the next start, after a power loss.
    func crashed(keeping survivors: SimulatedDisk.Survivors) -> SimulatedFileSystem {
        SimulatedFileSystem(withDisk { $0.crashed(keeping: survivors) })
    }

    /// The disk at the next start, after this process was killed: nothing is lost, and nothing more is
    /// flushed.
    func killed() -> SimulatedFileSystem { SimulatedFileSystem(withDisk { $0.killed() }) }

    /// All files as a program sees them, by path.
    var files: [String: [UInt8]] { withDisk { $0.files.mapValues(\.current) } }

    /// The bytes of a file as a program sees them.
    func bytes(at path: String) -> [UInt8]? { withDisk { $0.files[path].map(\.current) } }

    /// Adds a file as if it had always existed.
    func place(_ bytes: [UInt8], at path: String) { withDisk { $0.place(bytes, at: path) } }

    /// Replaces a file by a new one with the same contents, as a restored backup does.
    func replace(_ path: String) {
        withDisk { disk in disk.place(disk.files[path]?.current ?? [], at: path) }
    }

    /// Adds an entry that is not a file.
    func placeOther(_ kind: FileKind, at path: String) { withDisk { $0.others[path] = kind } }

    /// The names in a directory.
    func names(in directory: String) -> [String] { withDisk { $0.names(in: directory) } }

    private func withDisk<Result>(_ body: (inout SimulatedDisk) -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body(&disk)
    }

    // MARK: FileSystem

    func makeDirectory(_ path: String) throws(FileError) -> Bool {
        try withDisk { disk throws(FileError) in
            var mayBeUnsynced = true
            if try disk.begin(.createDirectory, path) { mayBeUnsynced = try disk.makeDirectory(path) }
            try disk.end()
            return mayBeUnsynced
        }
    }

    func contents(ofDirectory path: String) throws(FileError) -> [String] {
        try withDisk { disk throws(FileError) in
            _ = try disk.begin(.list, path)
            guard disk.directories.contains(path) else { throw FileError(.list, path, code: ENOENT) }
            try disk.end()
            return disk.names(in: path)
        }
    }

    func status(of path: String) throws(FileError) -> FileStatus? {
        try withDisk { disk throws(FileError) in
            _ = try disk.begin(.look, path)
            try disk.end()
            return disk.status(of: path)
        }
    }

    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        try withDisk { disk throws(FileError) in
            let operation: FileError.Operation = access == .replacing ? .create : .open
            if try disk.begin(operation, path) { try disk.open(path, access) }
            try disk.end()
            guard let file = disk.files[path] else { throw FileError(.open, path, code: ENOENT) }
            return SimulatedOpenFile(self, path, file)
        }
    }

    func rename(_ path: String, to newPath: String) throws(FileError) {
        try withDisk { disk throws(FileError) in
            if try disk.begin(.rename, path) { try disk.rename(path, to: newPath) }
            try disk.end()
        }
    }

    func remove(_ path: String) throws(FileError) {
        try withDisk { disk throws(FileError) in
            if try disk.begin(.remove, path) { try disk.remove(path) }
            try disk.end()
        }
    }

    func syncDirectory(_ path: String) throws(FileError) {
        try withDisk { disk throws(FileError) in
            if try disk.begin(.syncDirectory, path) { disk.syncDirectory(path) }
            try disk.end()
        }
    }

    func lock(_ path: String) throws(FileError) -> LockOutcome {
        try withDisk { disk throws(FileError) in
            _ = try disk.begin(.lock, path)
            guard disk.locks.insert(path).inserted else { return .held(processID: 1) }
            try disk.end()
            return .acquired(SimulatedFileLock(self, path))
        }
    }

    fileprivate func unlock(_ path: String) {
        withDisk { _ = $0.locks.remove(path) }
    }
}

/// An open file of a simulated disk; it stays the same file when its name is given to another.
final class SimulatedOpenFile: OpenFile {
    let path: String
    let identity: FileIdentity
    private let fileSystem: SimulatedFileSystem
    private let file: SimulatedDisk.File
    private let isClosed = Locked(false)

    init(_ fileSystem: SimulatedFileSystem, _ path: String, _ file: SimulatedDisk.File) {
        self.fileSystem = fileSystem
        self.path = path
        self.file = file
        identity = FileIdentity(device: 1, number: file.number)
    }

    /// Calls on a closed file don't reach the disk.
    private func check(_ operation: FileError.Operation) throws(FileError) {
        if isClosed.withLock({ $0 }) { throw FileError(operation, path, code: EBADF) }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try check(.append)
        try fileSystem.withDisk { disk throws(FileError) in
            try disk.append(Array(bytes), to: file, path)
        }
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try check(.read)
        return try fileSystem.withDisk { disk throws(FileError) in
            _ = try disk.begin(.read, path)
            let start = min(Int(clamping: offset), file.current.count)
            let end = min(start + buffer.count, file.current.count)
            buffer.copyBytes(from: file.current[start..<end])
            try disk.end()
            return end - start
        }
    }

    func size() throws(FileError) -> UInt64 {
        try check(.look)
        return try fileSystem.withDisk { disk throws(FileError) in
            _ = try disk.begin(.look, path)
            try disk.end()
            return UInt64(file.current.count)
        }
    }

    func flush() throws(FileError) {
        try check(.flush)
        try fileSystem.withDisk { disk throws(FileError) in
            if try disk.begin(.flush, path, file: file) { file.sync() }
            try disk.end()
        }
    }

    func truncate(to size: UInt64) throws(FileError) {
        try check(.truncate)
        try fileSystem.withDisk { disk throws(FileError) in
            if try disk.begin(.truncate, path) { file.change(.truncate(Int(clamping: size))) }
            try disk.end()
        }
    }

    func close() {
        isClosed.withLock { $0 = true }
    }
}

private final class SimulatedFileLock: FileLock {
    private let fileSystem: SimulatedFileSystem
    private let path: String
    private let isHeld = Locked(true)

    init(_ fileSystem: SimulatedFileSystem, _ path: String) {
        self.fileSystem = fileSystem
        self.path = path
    }

    deinit { release() }

    func release() {
        let wasHeld = isHeld.withLock { held in
            defer { held = false }
            return held
        }
        if wasHeld { fileSystem.unlock(path) }
    }
}
