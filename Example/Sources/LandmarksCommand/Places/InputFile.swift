import Foundation

#if canImport(CDispatch)
    // On Linux, an optimized build finds the members of `stat` there.
    import CDispatch
#endif

/// A file that the user named; it is read as a whole.
struct InputFile {
    /// The path, safe to print.
    let shownPath: String
    private let path: [CChar]

    /// Creates a file from its path.
    ///
    /// - Parameters:
    ///   - path: The path as parsed.
    ///   - rawArguments: The arguments as the system passed them: a path is bytes, not always text.
    init(_ path: String, rawArguments: [[UInt8]] = InputFile.rawArguments) {
        let values =
            rawArguments + rawArguments.map { Array($0.drop { $0 != UInt8(ascii: "=") }.dropFirst()) }
        let bytes = values.first { String(decoding: $0, as: UTF8.self) == path } ?? Array(path.utf8)
        shownPath = bytes.shown
        self.path = bytes.map(CChar.init(bitPattern:)) + [0]
    }

    private static var rawArguments: [[UInt8]] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { argument in
                UnsafeBufferPointer(start: argument, count: strlen(argument)).map(UInt8.init(bitPattern:))
            }
        }
    }

    /// The largest input in bytes: pipes and devices may never end.
    static let maximumSize = 256 << 20

    /// Reads the file.
    ///
    /// - Returns: Its bytes.
    /// - Throws: ``Failure`` if it can't be opened or read, or is larger than ``maximumSize``.
    func read() throws -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno == EIO ? .inputOutput : .noInput) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(.inputOutput) }
        if status.st_size > off_t(Self.maximumSize) { throw tooLarge }
        var data = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = chunk.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return data }
            if count > 0 {
                data.append(contentsOf: chunk[..<count])
                if data.count > Self.maximumSize { throw tooLarge }
                // JSON never contains it, so that an endless device is noticed at once.
                if data.count == count, chunk[0] == 0 { throw notText }
            } else if errno != EINTR {
                throw failure(errno == EISDIR ? .noInput : .inputOutput)
            }
        }
    }

    /// Reads a file with a secret, which only its owner may read, and which no link leads to.
    ///
    /// - Returns: Its bytes, at most 64 KB.
    /// - Throws: ``Failure`` if it can't be opened or read, is no such file, or is larger.
    func readSecret() throws -> [UInt8] {
        let limit = 64 << 10
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw Failure(.noInput, "'\(shownPath)' is a symbolic link") }
            throw failure(.noInput)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(.inputOutput) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(.noInput, "'\(shownPath)' is no file") }
        guard status.st_mode & 0o077 == 0 else {
            throw Failure(.noInput, "others may read '\(shownPath)', which has a secret; run chmod 600 on it")
        }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let start = count
            let read = bytes.withUnsafeMutableBytes {
                Foundation.read(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start)
            }
            if read == 0 { break }
            if read > 0 {
                count += read
            } else if errno != EINTR {
                throw failure(.inputOutput)
            }
        }
        guard count <= limit else { throw Failure(.badData, "'\(shownPath)' has more than 64 KB") }
        return Array(bytes[..<count])
    }

    private var tooLarge: Failure {
        Failure(.badData, "'\(shownPath)' has more than \(Self.maximumSize >> 20) MB; split it")
    }

    private var notText: Failure { Failure(.badData, "'\(shownPath)' isn't text") }

    private func failure(_ status: ExitStatus) -> Failure {
        Failure(status, "'\(shownPath)' cannot be read: \(String(cString: strerror(errno)))")
    }
}
