@testable import CodableSync

/// A file system that knows which files are open and which locks are held.
final class TrackedFileSystem: FileSystem {
    private let base: any FileSystem
    private let uses = Told<[String]>([])

    init(_ base: any FileSystem) { self.base = base }

    /// The paths of open files and held locks, sorted.
    var inUse: [String] { uses.withLock { $0.sorted() } }

    /// Returns once no file is open and no lock is held.
    func reachUnused(_ what: String, file: StaticString = #filePath, line: UInt = #line) async {
        await uses.reach(what, file: file, line: line) { $0.isEmpty }
    }

    private func begin(_ path: String) -> TrackedUse {
        uses.withLock { $0.append(path) }
        return TrackedUse { [uses] in
            uses.withLock { uses in
                if let index = uses.firstIndex(of: path) { uses.remove(at: index) }
            }
        }
    }

    func makeDirectory(_ path: String) throws(FileError) -> Bool { try base.makeDirectory(path) }

    func contents(ofDirectory path: String) throws(FileError) -> [String] {
        try base.contents(ofDirectory: path)
    }

    func status(of path: String) throws(FileError) -> FileStatus? { try base.status(of: path) }

    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        TrackedFile(try base.openFile(at: path, for: access), begin(path))
    }

    func rename(_ path: String, to newPath: String) throws(FileError) {
        try base.rename(path, to: newPath)
    }

    func remove(_ path: String) throws(FileError) { try base.remove(path) }

    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }

    func lock(_ path: String) throws(FileError) -> LockOutcome {
        switch try base.lock(path) {
        case .acquired(let lock): .acquired(TrackedLock(lock, begin(path)))
        case .held(let process): .held(processID: process)
        }
    }
}

/// One use of a file, which ends once.
private final class TrackedUse: Sendable {
    private let ending: Locked<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) { ending = Locked(end) }

    func end() {
        let end = ending.withLock { ending in
            defer { ending = nil }
            return ending
        }
        end?()
    }
}

private final class TrackedLock: FileLock {
    private let base: any FileLock
    private let use: TrackedUse

    init(_ base: any FileLock, _ use: TrackedUse) {
        self.base = base
        self.use = use
    }

    func release() {
        base.release()
        use.end()
    }
}

private final class TrackedFile: OpenFile {
    private let base: any OpenFile
    private let use: TrackedUse

    init(_ base: any OpenFile, _ use: TrackedUse) {
        self.base = base
        self.use = use
    }

    var path: String { base.path }
    var identity: FileIdentity { base.identity }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) { try base.append(bytes) }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try base.read(at: offset, into: buffer)
    }

    func size() throws(FileError) -> UInt64 { try base.size() }

    func flush() throws(FileError) { try base.flush() }

    func truncate(to size: UInt64) throws(FileError) { try base.truncate(to: size) }

    func close() {
        base.close()
        use.end()
    }
}
