import Foundation

/// The local file system, accessed through POSIX calls.
package struct LocalFileSystem: FileSystem {
    package init() {}

    package func makeDirectory(_ path: String) throws(FileError) -> Bool {
        try checkPath(path, .createDirectory)
        if mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST || errno == EISDIR else {
            throw FileError(.createDirectory, path, code: errno)
        }
        // Users may place a directory elsewhere with a symbolic link, which is followed only here.
        var found = stat()
        guard stat(path, &found) == 0 else { throw FileError(.createDirectory, path, code: errno) }
        guard found.st_mode & S_IFMT == S_IFDIR else {
            throw FileError(.createDirectory, path, code: ENOTDIR)
        }
        // If this user may not write to the parent, no process of the user created the directory; if it is
        // unreadable, it cannot be flushed.
        return access(path.directoryPath, R_OK | W_OK) == 0
    }

    package func contents(ofDirectory path: String) throws(FileError) -> [String] {
        try checkPath(path, .list)
        guard let directory = opendir(path) else { throw FileError(.list, path, code: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw FileError(.list, path, code: errno) }
        return names.sorted()
    }

    package func status(of path: String) throws(FileError) -> FileStatus? {
        try checkPath(path, .look)
        var found = stat()
        guard lstat(path, &found) == 0 else {
            if errno == ENOENT { return nil }
            throw FileError(.look, path, code: errno)
        }
        return FileStatus(found)
    }

    package func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile {
        try checkPath(path, .open)
        return try LocalOpenFile(path: path, access: access)
    }

    package func rename(_ path: String, to newPath: String) throws(FileError) {
        try checkPath(path, .rename)
        try checkPath(newPath, .rename)
        guard systemRename(path, newPath) == 0 else { throw FileError(.rename, path, code: errno) }
    }

    package func remove(_ path: String) throws(FileError) {
        try checkPath(path, .remove)
        guard unlink(path) == 0 else { throw FileError(.remove, path, code: errno) }
    }

    package func syncDirectory(_ path: String) throws(FileError) {
        try checkPath(path, .syncDirectory)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.syncDirectory, path, code: errno) }
        defer { _ = close(descriptor) }
        guard retryingInterrupted({ fsync(descriptor) }) == 0 else {
            throw FileError(.syncDirectory, path, code: errno)
        }
    }

    package func lock(_ path: String) throws(FileError) -> LockOutcome {
        try checkPath(path, .lock)
        return try LocalFileLock.lock(path)
    }

    /// Resolves the symbolic links in the part of a path that exists.
    package static func canonicalPath(of path: String) -> String {
        var existing = path
        var rest = ""
        while true {
            if let resolved = realpath(existing, nil) {
                defer { free(resolved) }
                return String(cString: resolved).appending(path: rest).withoutTrailingSlash
            }
            let parent = existing.directoryPath
            guard parent != existing else { return path }
            let name = existing.lastPathComponent
            rest = rest.isEmpty ? name : name.appending(path: rest)
            existing = parent
        }
    }

    /// Refuses a path with a zero byte, which would end the path early and name another file.
    private func checkPath(_ path: String, _ operation: FileError.Operation) throws(FileError) {
        if path.isEmpty || path.utf8.contains(0) { throw FileError(operation, path, code: EINVAL) }
    }
}

/// Calls the system's function, whose name is hidden by a method here.
private func systemRename(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }

/// Repeats a system call that a signal interrupted.
func retryingInterrupted<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

extension FileStatus {
    /// Converts the system's file status.
    init(_ found: stat) {
        let kind: FileKind =
            switch found.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        self.init(
            kind: kind,
            identity: FileIdentity(
                device: UInt64(truncatingIfNeeded: found.st_dev),
                number: UInt64(found.st_ino)
            ),
            size: UInt64(clamping: found.st_size)
        )
        isPrivate = found.st_mode & (S_IRWXG | S_IRWXO) == 0
    }
}
