import Foundation

/// An in-memory file system that is lost with its owner, for engines with an in-memory database.
package final class MemoryFileSystem: FileSystem {
    private struct Entry: Sendable {
        var file: MemoryContents?
        var isDirectory: Bool { file == nil }
        var isLocked = false
        var number: UInt64
    }

    private struct State: Sendable {
        var entries: [String: Entry] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    package func makeDirectory(_ path: String) throws(FileError) -> Bool {
        try state.withLock { state throws(FileError) in
            if let found = state.entries[path] {
                guard found.isDirectory else { throw FileError(.createDirectory, path, code: ENOTDIR) }
                return false
            }
            guard !Self.isRoot(path) else { return false }
            let parent = path.directoryPath
            guard Self.isRoot(parent) || state.entries[parent]?.isDirectory == true else {
                throw FileError(.createDirectory, path, code: ENOENT)
            }
            state.lastNumber += 1
            state.entries[path] = Entry(file: nil, number: state.lastNumber)
            // Names are never unflushed, since a power loss takes all of the memory.
            return false
        }
    }

    private static func isRoot(_ path: String) -> Bool { path == "/" || path == "." }

    package func contents(ofDirectory path: String) throws(FileError) -> [String] {
        let prefix = path.appending(path: "")
        return state.withLock { state in
            state.entries.keys
                .filter { $0.hasPrefix(prefix) && $0.directoryPath == path }
                .map { String($0.dropFirst(prefix.count)) }
                .sorted()
        }
    }

    package func status(of path: String) throws(FileError) -> FileStatus? {
        state.withLock { state in
            state.entries[path].map { entry in
                FileStatus(
                    kind: entry.isDirectory ? .directory : .file,
                    identity: FileIdentity(device: 0, number: entry.number),
                    size: entry.file?.count ?? 0
                )
            }
        }
    }

    package func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        try state.withLock { state throws(FileError) in
            switch (state.entries[path], access) {
            case (let entry?, .reading), (let entry?, .appending):
                guard let file = entry.file else { throw FileError(.open, path, code: EISDIR) }
                return MemoryFile(file, path)
            case (nil, .reading), (nil, .appending):
                throw FileError(.open, path, code: ENOENT)
            case (_, .replacing):
                state.lastNumber += 1
                let file = MemoryContents(number: state.lastNumber)
                state.entries[path] = Entry(file: file, number: state.lastNumber)
                return MemoryFile(file, path)
            }
        }
    }

    package func rename(_ path: String, to newPath: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard let entry = state.entries.removeValue(forKey: path) else {
                throw FileError(.rename, path, code: ENOENT)
            }
            state.entries[newPath] = entry
        }
    }

    package func remove(_ path: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            if state.entries.removeValue(forKey: path) == nil { throw FileError(.remove, path, code: ENOENT) }
        }
    }

    package func syncDirectory(_ path: String) throws(FileError) {}

    package func lock(_ path: String) throws(FileError) -> LockOutcome {
        let isOurs = state.withLock { state -> Bool in
            if state.entries[path]?.isLocked == true { return false }
            state.lastNumber += 1
            let file = state.entries[path]?.file ?? MemoryContents(number: state.lastNumber)
            state.entries[path] = Entry(file: file, isLocked: true, number: state.lastNumber)
            return true
        }
        guard isOurs else { return .held(processID: Int(getpid())) }
        return .acquired(MemoryLock { [state] in state.withLock { $0.entries[path]?.isLocked = false } })
    }
}

private final class MemoryLock: FileLock {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    func release() { end() }
}

/// The contents of a file, independent of its name.
private final class MemoryContents: Sendable {
    let identity: FileIdentity
    let bytes = Locked<[UInt8]>([])

    init(number: UInt64) {
        identity = FileIdentity(device: 0, number: number)
    }

    var count: UInt64 { bytes.withLock { UInt64($0.count) } }
}

/// An open file.
private final class MemoryFile: OpenFile {
    let path: String
    private let file: MemoryContents
    private let isClosed = Locked(false)

    init(_ file: MemoryContents, _ path: String) {
        self.file = file
        self.path = path
    }

    var identity: FileIdentity { file.identity }

    private func check(_ operation: FileError.Operation) throws(FileError) {
        if isClosed.withLock({ $0 }) { throw FileError(operation, path, code: EBADF) }
    }

    func append(_ added: UnsafeRawBufferPointer) throws(FileError) {
        try check(.append)
        file.bytes.withLock { $0.append(contentsOf: added) }
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try check(.read)
        return file.bytes.withLock { bytes in
            let start = Int(clamping: offset)
            guard start < bytes.count else { return 0 }
            let count = min(buffer.count, bytes.count - start)
            buffer.copyBytes(from: bytes[start..<start + count])
            return count
        }
    }

    func size() throws(FileError) -> UInt64 {
        try check(.look)
        return file.count
    }

    func flush() throws(FileError) {
        try check(.flush)
    }

    func truncate(to size: UInt64) throws(FileError) {
        try check(.truncate)
        file.bytes.withLock { bytes in
            bytes.removeLast(max(0, bytes.count - Int(clamping: size)))
        }
    }

    func close() {
        isClosed.withLock { $0 = true }
    }
}
