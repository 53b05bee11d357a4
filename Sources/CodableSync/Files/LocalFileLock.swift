import Foundation

/// A `flock` on an open file, which also excludes other users in this process, and is released when the
/// process ends.
final class LocalFileLock: FileLock {
    private let descriptor: Locked<Int32>

    private init(_ number: Int32) {
        descriptor = Locked(number)
    }

    deinit { release() }

    func release() {
        let open = descriptor.withLock { value in
            defer { value = -1 }
            return value
        }
        if open >= 0 { _ = close(open) }
    }

    static func lock(_ path: String) throws(FileError) -> LockOutcome {
        while true {
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
            let number = retryingInterrupted { open(path, flags, 0o600) }
            guard number >= 0 else {
                if errno == ELOOP {
                    throw FileError(.lock, path, code: ELOOP, reason: "It is a symbolic link")
                }
                throw FileError(.lock, path, code: errno)
            }
            let lock = LocalFileLock(number)
            guard retryingInterrupted({ flock(number, LOCK_EX | LOCK_NB) }) == 0 else {
                guard errno == EWOULDBLOCK else { throw FileError(.lock, path, code: errno) }
                return .held(processID: processID(in: number))
            }
            // The file may have been removed in the meantime, in which case the lock is useless and the
            // attempt starts over.
            if try stands(number, at: path) {
                // Usually the same process takes the lock again, and the file already has its ID.
                if processID(in: number) != Int(getpid()) { try writeProcessID(into: number, path) }
                return .acquired(lock)
            }
            lock.release()
        }
    }

    private static func stands(_ number: Int32, at path: String) throws(FileError) -> Bool {
        var held = stat()
        var named = stat()
        guard fstat(number, &held) == 0 else { throw FileError(.lock, path, code: errno) }
        guard held.st_mode & S_IFMT == S_IFREG else {
            throw FileError(.lock, path, code: ELOOP, reason: "It is not a regular file")
        }
        guard held.st_nlink <= 1 else {
            let reason = "It is a hard link: writing would change another file as well"
            throw FileError(.lock, path, code: EMLINK, reason: reason)
        }
        guard lstat(path, &named) == 0 else {
            if errno == ENOENT { return false }
            throw FileError(.lock, path, code: errno)
        }
        return held.st_ino == named.st_ino && held.st_dev == named.st_dev
    }

    private static func writeProcessID(into number: Int32, _ path: String) throws(FileError) {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(number, 0) == 0, pwrite(number, text, text.count, 0) == text.count else {
            // The ID is only for a message, so a full disk does not prevent the lock.
            guard errno != ENOSPC, errno != EDQUOT else { return }
            throw FileError(.lock, path, code: errno)
        }
    }

    private static func processID(in number: Int32) -> Int? {
        var text = [UInt8](repeating: 0, count: 20)
        let count = text.withUnsafeMutableBytes { pread(number, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return nil }
        return Int(String(decoding: text[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
