import Foundation

@testable import CodableSync

/// A file system in front of another one, which calls a closure before each operation.
protocol WrappingFileSystem: FileSystem {
    var base: any FileSystem { get }

    /// Called before each operation on a file or a directory; a rename passes the new name.
    ///
    /// It may block.
    func before(_ operation: FileError.Operation, _ path: String) throws(FileError)
}

extension WrappingFileSystem {
    func makeDirectory(_ path: String) throws(FileError) -> Bool {
        try before(.createDirectory, path)
        return try base.makeDirectory(path)
    }

    func contents(ofDirectory path: String) throws(FileError) -> [String] {
        try before(.list, path)
        return try base.contents(ofDirectory: path)
    }

    func status(of path: String) throws(FileError) -> FileStatus? {
        try before(.look, path)
        return try base.status(of: path)
    }

    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        try before(access == .replacing ? .create : .open, path)
        return WrappedFile(try base.openFile(at: path, for: access), in: self)
    }

    func rename(_ path: String, to newPath: String) throws(FileError) {
        try before(.rename, newPath)
        try base.rename(path, to: newPath)
    }

    func remove(_ path: String) throws(FileError) {
        try before(.remove, path)
        try base.remove(path)
    }

    func syncDirectory(_ path: String) throws(FileError) {
        try before(.syncDirectory, path)
        try base.syncDirectory(path)
    }

    func lock(_ path: String) throws(FileError) -> LockOutcome {
        try before(.lock, path)
        return try base.lock(path)
    }
}

/// An open file of a `WrappingFileSystem`, which cannot be used after it is closed.
private final class WrappedFile: OpenFile {
    private let base: any OpenFile
    private let fileSystem: any WrappingFileSystem
    private let isClosed = Locked(false)

    init(_ base: any OpenFile, in fileSystem: any WrappingFileSystem) {
        self.base = base
        self.fileSystem = fileSystem
    }

    var path: String { base.path }
    var identity: FileIdentity { base.identity }

    private func before(_ operation: FileError.Operation) throws(FileError) {
        if isClosed.withLock({ $0 }) { throw FileError(operation, path, code: EBADF) }
        try fileSystem.before(operation, path)
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try before(.append)
        try base.append(bytes)
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try before(.read)
        return try base.read(at: offset, into: buffer)
    }

    func size() throws(FileError) -> UInt64 {
        try before(.look)
        return try base.size()
    }

    func flush() throws(FileError) {
        try before(.flush)
        try base.flush()
    }

    func truncate(to size: UInt64) throws(FileError) {
        try before(.truncate)
        try base.truncate(to: size)
    }

    func close() {
        isClosed.withLock { $0 = true }
        base.close()
    }
}
