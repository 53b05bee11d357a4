import Foundation

/// Why writing failed.
enum OutputError: Error, Equatable {
    /// The reader has closed the pipe.
    case closed
    case failed(String)
}

/// A file descriptor for text, which is written at once and completely.
struct Output: Sendable {
    static let standard = Output(descriptor: STDOUT_FILENO)
    static let standardError = Output(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Opens standard input, output and error if the parent process has closed them.
    ///
    /// Otherwise the next opened file, one of the state, would get such a descriptor, and be written to as output.
    static func holdPlaces() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // For reading only: writing still fails.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes text.
    ///
    /// - Parameter text: The text, with its line breaks.
    /// - Throws: ``OutputError``.
    func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var descriptors = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&descriptors, 1, -1)
            } else if errno == EPIPE {
                throw OutputError.closed
            } else if errno != EINTR {
                throw OutputError.failed(String(cString: strerror(errno)))
            }
        }
    }

    /// Writes a line, ignoring failures.
    ///
    /// - Parameter line: The line, without its line break.
    func tell(_ line: String) {
        show(line + "\n")
    }

    /// Writes text, ignoring failures, such as a progress bar.
    ///
    /// - Parameter text: The text.
    func show(_ text: String) {
        do {
            try write(text)
        } catch {
            return  // Standard error itself is closed.
        }
    }
}
