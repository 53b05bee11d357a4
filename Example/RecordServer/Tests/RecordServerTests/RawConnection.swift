import Dispatch
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A socket to a server on this computer, also for requests that no HTTP client would send.
final class RawConnection: Sendable {
    private let socket: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #elseif canImport(Musl)
            socket = Musl.socket(AF_INET, SOCK_STREAM, 0)
        #else
            socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
        // So that a test ends if the server never answers.
        wait(milliseconds: 20_000)
    }

    /// Sets how long a read waits for more.
    private func wait(milliseconds: Int) {
        var time = timeval(tv_sec: milliseconds / 1000, tv_usec: .init(milliseconds % 1000 * 1000))
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Whether nothing arrives for a while, and the connection stays open.
    func isSilent(milliseconds: Int = 300) async -> Bool {
        wait(milliseconds: milliseconds)
        let (text, isClosed) = await read()
        wait(milliseconds: 20_000)
        return text.isEmpty && !isClosed
    }

    /// Sends a text a byte at a time, until the server closes the connection.
    ///
    /// - Returns: How many bytes were sent, what was read, and whether the connection was closed.
    func drip(_ text: String) async -> (sent: Int, text: String, isClosed: Bool) {
        wait(milliseconds: 20)
        var answer = ""
        for (count, byte) in text.enumerated() {
            send(String(byte))
            let (more, isClosed) = await read()
            answer += more
            if isClosed { return (count + 1, answer, true) }
        }
        return (text.count, answer, false)
    }

    deinit { close(socket) }

    /// Sends a text, as far as the server takes it.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { rest in
                write(rest)
            }
            if count <= 0 { return }
            sent += count
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #elseif canImport(Musl)
            Musl.send(socket, bytes.baseAddress, bytes.count, MSG_NOSIGNAL)
        #else
            Darwin.send(socket, bytes.baseAddress, bytes.count, 0)
        #endif
    }

    /// Reads until the server closes the connection, or a text was read, without holding a thread of tasks.
    ///
    /// - Parameter end: The text.
    /// - Returns: What was read, and whether the connection was closed.
    func read(until end: String? = nil) async -> (text: String, isClosed: Bool) {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.readNow(until: end)) }
        }
    }

    private func readNow(until end: String?) -> (text: String, isClosed: Bool) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count <= 0 {
                let isLate = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
                return (String(decoding: bytes, as: UTF8.self), !isLate)
            }
            bytes += buffer[..<count]
            guard let end else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains(end) { return (text, false) }
        }
    }
}
