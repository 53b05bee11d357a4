import Foundation

@testable import CodableSync

/// A simulated disk whose files can be used no more once they are closed.
final class ClosingFileSystem: FileSystem {
    let base = SimulatedFileSystem()

    func createDirectory(at path: String) throws(FileError) { try base.createDirectory(at: path) }
    func contents(ofDirectory path: String) throws(FileError) -> [String] {
        try base.contents(ofDirectory: path)
    }
    func status(of path: String) throws(FileError) -> FileStatus? { try base.status(of: path) }
    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        ClosingOpenFile(try base.openFile(at: path, for: access))
    }
    func rename(_ path: String, to newPath: String) throws(FileError) { try base.rename(path, to: newPath) }
    func remove(_ path: String) throws(FileError) { try base.remove(path) }
    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
    func lock(_ path: String, waiting: Bool) throws(FileError) -> LockOutcome {
        try base.lock(path, waiting: waiting)
    }
}

private final class ClosingOpenFile: OpenFile {
    private let base: any OpenFile
    private let isClosed = Locked(false)

    init(_ base: any OpenFile) { self.base = base }

    var path: String { base.path }
    var identity: FileIdentity { base.identity }

    private func checkOpen(_ operation: FileError.Operation) throws(FileError) {
        if isClosed.withLock({ $0 }) { throw FileError(operation, path, code: EBADF) }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try checkOpen(.append)
        try base.append(bytes)
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try checkOpen(.read)
        return try base.read(at: offset, into: buffer)
    }

    func size() throws(FileError) -> UInt64 {
        try checkOpen(.look)
        return try base.size()
    }

    func flush() throws(FileError) {
        try checkOpen(.flush)
        try base.flush()
    }

    func truncate(to size: UInt64) throws(FileError) {
        try checkOpen(.truncate)
        try base.truncate(to: size)
    }

    func close() { isClosed.withLock { $0 = true } }
}
