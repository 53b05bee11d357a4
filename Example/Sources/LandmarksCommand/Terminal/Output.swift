import Foundation

/// Why something could not be written.
enum OutputError: Error, Equatable {
    /// Nobody reads it any more.
    case closed
    case failed(String)
}

/// A file descriptor that text is written to, at once and in whole.
struct Output: Sendable {
    static let standard = Output(descriptor: STDOUT_FILENO)
    static let standardError = Output(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Opens what stands for input, output and errors where whoever has started the command has closed it.
    ///
    /// Else the next file to be opened, one of the state, would get such a number, and be written to as the output.
    static func holdPlaces() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // For reading only: what is written is still an error.
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

    /// Writes a line that nothing depends on.
    ///
    /// - Parameter line: The line, without its line break.
    func tell(_ line: String) {
        show(line + "\n")
    }

    /// Writes text that nothing depends on, such as a progress bar.
    ///
    /// - Parameter text: The text.
    func show(_ text: String) {
        do {
            try write(text)
        } catch {
            return  // Nobody is left who could be told.
        }
    }
}
