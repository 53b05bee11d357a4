#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Files that live in memory and are gone with their owner: for engines whose database is in memory, too.
package final class MemoryFileSystem: FileSystem {
    private struct Entry: Sendable {
        var file: MemoryFile?
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

    package func createDirectory(at path: String) throws(FileError) {
        state.withLock { state in
            var path = path
            while path != "/", path != ".", state.entries[path] == nil {
                state.lastNumber += 1
                state.entries[path] = Entry(file: nil, number: state.lastNumber)
                path = path.directoryPath
            }
        }
    }

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
                return file
            case (nil, .reading), (nil, .appending):
                throw FileError(.open, path, code: ENOENT)
            case (_, .replacing):
                state.lastNumber += 1
                let file = MemoryFile(path: path, number: state.lastNumber)
                state.entries[path] = Entry(file: file, number: state.lastNumber)
                return file
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
            let file = state.entries[path]?.file ?? MemoryFile(path: path, number: state.lastNumber)
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

private final class MemoryFile: OpenFile {
    let path: String
    let identity: FileIdentity
    private let bytes = Locked<[UInt8]>([])

    init(path: String, number: UInt64) {
        self.path = path
        identity = FileIdentity(device: 0, number: number)
    }

    var count: UInt64 { bytes.withLock { UInt64($0.count) } }

    func append(_ added: UnsafeRawBufferPointer) throws(FileError) {
        bytes.withLock { $0.append(contentsOf: added) }
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        bytes.withLock { bytes in
            let start = Int(clamping: offset)
            guard start < bytes.count else { return 0 }
            let count = min(buffer.count, bytes.count - start)
            buffer.copyBytes(from: bytes[start..<start + count])
            return count
        }
    }

    func size() throws(FileError) -> UInt64 { count }

    func flush() throws(FileError) {}

    func truncate(to size: UInt64) throws(FileError) {
        bytes.withLock { bytes in
            bytes.removeLast(max(0, bytes.count - Int(clamping: size)))
        }
    }

    func close() {}
}
