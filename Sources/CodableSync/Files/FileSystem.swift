#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the library does with files, as a seam: the real disk in an app, a simulated one in tests.
///
/// No call follows a symbolic link in the last part of a path, and files are opened only where they are regular
/// ones: a FIFO or a device in place of a file is an error. Every call blocks, so it belongs off an actor.
package protocol FileSystem: Sendable {
    /// Makes one directory in a directory that exists; one that is there already is left as it is.
    ///
    /// - Returns: Whether its name may be unflushed: it is new, or a killed process may have made it.
    func makeDirectory(_ path: String) throws(FileError) -> Bool

    /// The names in a directory, sorted.
    func contents(ofDirectory path: String) throws(FileError) -> [String]

    /// What stands at a path; `nil` where nothing does.
    func status(of path: String) throws(FileError) -> FileStatus?

    /// Opens a regular file.
    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile

    /// Gives a file another name in one step, in place of the file that may have it.
    func rename(_ path: String, to newPath: String) throws(FileError)

    /// Removes a file.
    func remove(_ path: String) throws(FileError)

    /// Makes the names in a directory survive a loss of power.
    func syncDirectory(_ path: String) throws(FileError)

    /// Locks a file against everybody else, in this process and in others.
    ///
    /// The file is made if it is missing. The lock ends when it is released, and with the process. The call never
    /// waits, since the process that has the lock may have stopped. The file holds its process id, for other
    /// processes' errors.
    func lock(_ path: String) throws(FileError) -> LockOutcome
}

/// How a file is opened.
package enum FileAccess: Hashable, Sendable {
    /// For reading; the file must exist.
    case reading
    /// For reading and appending; the file must exist.
    case appending
    /// For reading and appending; the file is made, or emptied where it exists.
    case replacing
}

/// What stands at a path.
package struct FileStatus: Hashable, Sendable {
    /// What kind of thing it is.
    package var kind: FileKind
    /// Which file it is, however it is named.
    package var identity: FileIdentity
    /// Its size in bytes.
    package var size: UInt64

    package init(kind: FileKind, identity: FileIdentity, size: UInt64) {
        self.kind = kind
        self.identity = identity
        self.size = size
    }
}

/// The kinds of things that stand in a directory.
package enum FileKind: String, Hashable, Sendable {
    case file = "a file"
    case directory = "a directory"
    case symbolicLink = "a symbolic link"
    case other = "a pipe, socket or device"
}

/// Which file a name stands for: another one as soon as the file is replaced.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var number: UInt64

    package init(device: UInt64, number: UInt64) {
        self.device = device
        self.number = number
    }
}

extension FileSystem {
    /// Makes a directory and its missing parents; all of them survive a loss of power.
    ///
    /// Each name is flushed before anything is made below it, so a killed process can leave only the lowest directory
    /// unflushed, and this call flushes that one.
    package func createDirectory(at path: String) throws(FileError) {
        let path = path.withoutTrailingSlash
        let parent = path.directoryPath
        if parent == path { return }
        let isThere = try status(of: path) != nil
        if !isThere { try createDirectory(at: parent) }
        guard try makeDirectory(path) else { return }
        do throws(FileError) {
            try syncDirectory(parent)
        } catch  where isThere && (error.code == EACCES || error.code == EINVAL) {
            // Found, and in a parent that cannot be flushed: whoever made it had to do without that as well.
        }
    }

    /// Writes a small file so that a crash leaves either the former contents or the new ones.
    package func writeAtomically(_ bytes: [UInt8], to path: String) throws(FileError) {
        let temporary = path + ".tmp"
        let file = try openFile(at: temporary, for: .replacing)
        defer { file.close() }
        try file.append(bytes)
        try file.flush()
        try rename(temporary, to: path)
        try syncDirectory(path.directoryPath)
    }

    /// The whole contents of a small file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The most bytes that it may have: a larger one is refused before anything is allocated.
    /// - Returns: The bytes.
    /// - Throws: ``FileError``.
    package func readFile(_ path: String, atMost limit: Int = 16 << 20) throws(FileError) -> [UInt8] {
        let file = try openFile(at: path, for: .reading)
        defer { file.close() }
        let size = try file.size()
        guard size <= UInt64(limit) else { throw FileError(tooLarge: path, size: size, limit: limit) }
        return try file.read(at: 0, count: Int(size))
    }
}

extension String {
    /// The path of the directory that this path stands in.
    package var directoryPath: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    /// This path as it is written without a slash at its end.
    package var withoutTrailingSlash: String {
        var path = self
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// The last part of this path.
    package var lastPathComponent: String {
        lastIndex(of: "/").map { String(self[index(after: $0)...]) } ?? self
    }

    /// This path with a name added.
    package func appending(path name: String) -> String {
        hasSuffix("/") ? self + name : self + "/" + name
    }
}
