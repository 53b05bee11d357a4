import Foundation

#if canImport(CDispatch)
    // On Linux, an optimized build finds the members of `stat` there.
    import CDispatch
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A file that only its owner may read, which is never reached through a symbolic link.
public enum SecretFile {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - ofOwnUser: Whether it must belong to the user of this process. Root reads what others own, but then leaves files
    ///     beside it that they can't open.
    /// - Returns: Its contents, 64 KB at most.
    /// - Throws: ``ServerError`` if it can't be read, is a symbolic link, is readable by others, or is another user's.
    public static func read(_ path: String, ofOwnUser: Bool = false) throws(ServerError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw failure("read", path) }
        defer { close(file) }
        try check(file, path, ofOwnUser: ofOwnUser)
        return try contents(of: file, path)
    }

    /// Flushes the names in a directory, so that they survive a power failure.
    ///
    /// - Parameter path: The directory.
    /// - Throws: ``ServerError`` if it can't be flushed.
    static func flushNames(in path: String) throws(ServerError) {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw failure("read", path) }
        defer { close(directory) }
        // Some file systems flush no directories, and say so.
        guard fsync(directory) == 0 || errno == EINVAL else { throw failure("write", path) }
    }

    /// Reads a file, or creates it with permissions 0600.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - new: Its contents if it does not exist.
    /// - Returns: Its contents.
    /// - Throws: ``ServerError`` as ``read(_:)``, and if it can't be written.
    public static func read(_ path: String, orCreateWith new: () -> [UInt8]) throws(ServerError) -> [UInt8] {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return try read(path) }
        defer { close(file) }
        let bytes = new()
        guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
            throw failure("write", path)
        }
        return bytes
    }

    private static func check(_ file: Int32, _ path: String, ofOwnUser: Bool) throws(ServerError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ServerError("\(path) is no regular file.") }
        guard status.st_mode & 0o077 == 0 else {
            throw ServerError("Others may read \(path). Run: chmod 600 \(path)")
        }
        guard !ofOwnUser || status.st_uid == geteuid() else {
            throw ServerError("\(path) belongs to another user. Run this as the user of the server.")
        }
    }

    private static func contents(of file: Int32, _ path: String) throws(ServerError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        var count = 0
        while count < bytes.count {
            let start = count
            let read = bytes.withUnsafeMutableBytes { buffer in
                Self.read(file, buffer.baseAddress?.advanced(by: start), buffer.count - start)
            }
            guard read >= 0 else { throw failure("read", path) }
            if read == 0 { break }
            count += read
        }
        return Array(bytes[..<count])
    }

    private static func read(_ file: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.read(file, start, count)
        #elseif canImport(Musl)
            Musl.read(file, start, count)
        #else
            Darwin.read(file, start, count)
        #endif
    }

    private static func failure(_ verb: String, _ path: String) -> ServerError {
        ServerError("Can't \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}
