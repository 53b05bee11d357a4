import Foundation

/// The library's interface to files: the real disk in an app, a simulated one in tests.
///
/// No call follows a symbolic link in the last part of a path. Only regular files are opened: a FIFO or a
/// device in place of a file is an error. All calls block, so make them off the actors.
package protocol FileSystem: Sendable {
    /// Creates a directory in an existing directory; an existing directory at the path is left unchanged.
    ///
    /// - Returns: Whether its name may be unflushed, because it is new or a killed process may have created
    ///   it.
    func makeDirectory(_ path: String) throws(FileError) -> Bool

    /// The names in a directory, sorted.
    func contents(ofDirectory path: String) throws(FileError) -> [String]

    /// Returns the status of the file at a path; `nil` if there is none.
    func status(of path: String) throws(FileError) -> FileStatus?

    /// Opens a regular file.
    func openFile(at path: String, for access: FileAccess) throws(FileError) -> any OpenFile

    /// Renames a file atomically, replacing any file that has the new name.
    func rename(_ path: String, to newPath: String) throws(FileError)

    /// Removes a file.
    func remove(_ path: String) throws(FileError)

    /// Flushes the names in a directory, so that they survive a power loss.
    func syncDirectory(_ path: String) throws(FileError)

    /// Locks a file exclusively, in this process and across processes.
    ///
    /// The file is created if it is missing. The lock ends when it is released or the process ends. The call
    /// never waits, since the process that holds the lock may be stopped. The file contains the owner's
    /// process ID, for the errors of other processes.
    func lock(_ path: String) throws(FileError) -> LockOutcome
}

/// How a file is opened.
package enum FileAccess: Hashable, Sendable {
    /// For reading; the file must exist.
    case reading
    /// For reading and appending; the file must exist.
    case appending
    /// For reading and appending; the file is created, or emptied if it exists.
    case replacing
}

/// The status of a file.
package struct FileStatus: Hashable, Sendable {
    /// The kind of file.
    package var kind: FileKind
    /// The identity of the file, independent of its name.
    package var identity: FileIdentity
    /// Its size in bytes.
    package var size: UInt64
    /// Whether other users of the computer may neither read nor write it.
    package var isPrivate = true

    package init(kind: FileKind, identity: FileIdentity, size: UInt64) {
        self.kind = kind
        self.identity = identity
        self.size = size
    }
}

/// The kinds of files.
package enum FileKind: String, Hashable, Sendable {
    case file = "a file"
    case directory = "a directory"
    case symbolicLink = "a symbolic link"
    case other = "a pipe, socket or device"
}

/// The identity of the file behind a name, which changes when the file is replaced.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var number: UInt64

    package init(device: UInt64, number: UInt64) {
        self.device = device
        self.number = number
    }
}

extension FileSystem {
    /// Creates a directory and its missing parents, all of which survive a power loss.
    ///
    /// Each name is flushed before anything is created below it, so a killed process can leave only the
    /// lowest directory unflushed, and this call flushes that one.
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
            // The directory exists in a parent that cannot be flushed, so its creator could not flush it
            // either.
        }
    }

    /// Writes a small file atomically: a crash leaves either the old or the new contents.
    package func writeAtomically(_ bytes: [UInt8], to path: String) throws(FileError) {
        let temporary = path + ".tmp"
        let file = try openFile(at: temporary, for: .replacing)
        defer { file.close() }
        try file.append(bytes)
        try file.flush()
        try rename(temporary, to: path)
        try syncDirectory(path.directoryPath)
    }

    /// Reads the whole contents of a small file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The maximum size in bytes; a larger file is refused before memory is allocated.
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
    /// The path of the directory that contains this path.
    package var directoryPath: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    /// This path without slashes at its end.
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
