import Foundation

/// A file descriptor, closed at the latest when its last reference is released.
///
/// The system reuses a closed descriptor's number for the next file that it opens. So the descriptor stays
/// open until the last call that uses it has ended, and no later call starts.
final class LocalOpenFile: OpenFile {
    let path: String
    let identity: FileIdentity
    private let number: Int32
    private let use = Locked(Use())

    private struct Use {
        /// The number of running calls.
        var calls = 0
        var isClosed = false
        var mayLetGo: Bool { isClosed && calls == 0 }
    }

    init(path: String, access: FileAccess) throws(FileError) {
        // O_NONBLOCK prevents waiting for the other end of a FIFO; it has no effect on a regular file.
        let common = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let (flags, operation): (Int32, FileError.Operation) =
            switch access {
            case .reading: (O_RDONLY | common, .open)
            case .appending: (O_RDWR | O_APPEND | common, .open)
            case .replacing: (O_RDWR | O_APPEND | O_CREAT | common, .create)
            }
        let number = retryingInterrupted { open(path, flags, 0o600) }
        guard number >= 0 else {
            if errno == ELOOP {
                throw FileError(operation, path, code: ELOOP, reason: "It is a symbolic link")
            }
            throw FileError(operation, path, code: errno)
        }
        self.path = path
        self.number = number
        var found = stat()
        guard fstat(number, &found) == 0 else {
            let code = errno
            _ = systemClose(number)
            throw FileError(operation, path, code: code)
        }
        let status = FileStatus(found)
        identity = status.identity
        if let reason = Self.reasonToRefuse(status, links: UInt64(found.st_nlink)) {
            close()
            throw FileError(operation, path, code: reason.code, reason: reason.text)
        }
        // The file is emptied only now that it is known to be a regular file.
        if access == .replacing, status.size > 0 { try truncate(to: 0) }
    }

    deinit { close() }

    private static func reasonToRefuse(_ status: FileStatus, links: UInt64) -> (code: Int32, text: String)? {
        switch status.kind {
        case .file:
            links > 1 ? (EMLINK, "It is a hard link: writing would change another file as well") : nil
        case .directory: (EISDIR, "It is a directory")
        case .symbolicLink, .other: (ELOOP, "It is \(status.kind.rawValue)")
        }
    }

    /// Makes a call with the descriptor, which stays open until the call has ended.
    func withDescriptor<Result>(
        _ operation: FileError.Operation,
        _ body: (Int32) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let mayBegin = use.withLock { use -> Bool in
            if !use.isClosed { use.calls += 1 }
            return !use.isClosed
        }
        guard mayBegin else { throw FileError(operation, path, code: EBADF) }
        defer { letGo { $0.calls -= 1 } }
        return try body(number)
    }

    /// Closes the descriptor if no call uses it anymore.
    private func letGo(_ change: (inout Use) -> Void) {
        let mayClose = use.withLock { use -> Bool in
            let couldBefore = use.mayLetGo
            change(&use)
            return use.mayLetGo && !couldBefore
        }
        // An interrupted `close` has still closed the descriptor; repeating it could close another file.
        if mayClose { _ = systemClose(number) }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try withDescriptor(.append) { number throws(FileError) in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = retryingInterrupted { write(number, start, rest.count) }
                guard count >= 0 else { throw FileError(.append, path, code: errno) }
                guard count > 0 else { throw FileError(.append, path, code: EIO) }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try withDescriptor(.read) { number throws(FileError) in
            var done = 0
            while done < buffer.count, let start = buffer.baseAddress {
                let (position, overflow) = offset.addingReportingOverflow(UInt64(done))
                guard !overflow, let position = off_t(exactly: position) else { return done }
                let count = retryingInterrupted { pread(number, start + done, buffer.count - done, position) }
                guard count >= 0 else { throw FileError(.read, path, code: errno) }
                if count == 0 { break }
                done += count
            }
            return done
        }
    }

    func size() throws(FileError) -> UInt64 {
        try withDescriptor(.look) { number throws(FileError) in
            var found = stat()
            guard fstat(number, &found) == 0 else { throw FileError(.look, path, code: errno) }
            return UInt64(clamping: found.st_size)
        }
    }

    func flush() throws(FileError) {
        try withDescriptor(.flush) { number throws(FileError) in
            #if canImport(Darwin)
                // On Apple systems, `fsync` leaves data in the drive's cache.
                if retryingInterrupted({ fcntl(number, F_FULLFSYNC) }) == 0 { return }
                let code = errno
                guard Self.meansNotSupported(code) else { throw FileError(.flush, path, code: code) }
            #endif
            guard retryingInterrupted({ fsync(number) }) == 0 else {
                throw FileError(.flush, path, code: errno)
            }
        }
    }

    /// Whether a full flush failed because the volume has none, as network and FUSE volumes report in several
    /// ways; any other error must not be followed by an `fsync`, which may succeed although data was lost.
    static func meansNotSupported(_ code: Int32) -> Bool {
        [ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY, ENOSYS].contains(code)
    }

    func truncate(to size: UInt64) throws(FileError) {
        guard let length = off_t(exactly: size) else { throw FileError(.truncate, path, code: EINVAL) }
        try withDescriptor(.truncate) { number throws(FileError) in
            guard retryingInterrupted({ ftruncate(number, length) }) == 0 else {
                throw FileError(.truncate, path, code: errno)
            }
        }
    }

    func close() {
        letGo { $0.isClosed = true }
    }
}

/// Calls the system's function, whose name is hidden by a method here.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
