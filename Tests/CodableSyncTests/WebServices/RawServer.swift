import Foundation
import XCTest

@testable import CodableSync

/// A server on this computer that answers with the bytes that a test says, whatever they are.
final class RawServer: Sendable {
    /// A request as it arrived.
    struct Request: Sendable {
        var head: String
        var body: [UInt8]
    }

    /// What to do with a request; after the last byte, the connection stays open unless it is closed.
    enum Reaction: Sendable {
        case answer(String)
        /// The bytes, then the end of the connection.
        case answerAndClose(String)
        case close
        /// The beginning of an answer, and no more.
        case hold(String)
        /// The beginning of an answer, then bytes without an end.
        case endless(String)
    }

    private struct State {
        var requests: [Request] = []
        var connections: [Int32] = []
        var isClosed = false
    }

    let port: Int
    private let listener: Int32
    private let state = Locked(State())
    private let whenClosed: @Sendable () -> Void
    private let react: @Sendable (Request, _ number: Int) -> Reaction

    /// - Parameters:
    ///   - whenClosed: Called when a client has closed a connection before the end of an answer.
    ///   - react: What to do with a request.
    /// - Throws: `XCTSkip` if there are no sockets here.
    init(
        whenClosed: @escaping @Sendable () -> Void = {},
        _ react: @escaping @Sendable (Request, _ number: Int) -> Reaction
    ) throws {
        self.react = react
        self.whenClosed = whenClosed
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        listener = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        try XCTSkipUnless(isListening, "no socket: \(String(cString: strerror(errno)))")
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in accept() }
    }

    /// The requests so far, in order of their arrival.
    var requests: [Request] { state.withLock { $0.requests } }

    var url: URL { URL(string: "http://127.0.0.1:\(port)")! }

    /// Closes all connections, and takes no more.
    func close() {
        let open = state.withLock { state -> [Int32] in
            state.isClosed = true
            defer { state.connections = [] }
            return state.connections
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    private func accept() {
        while true {
            #if canImport(Glibc)
                let connection = Glibc.accept(listener, nil, nil)
            #else
                let connection = Darwin.accept(listener, nil, nil)
            #endif
            guard connection >= 0 else { break }
            let isClosed = state.withLock { state in
                state.connections.append(connection)
                return state.isClosed
            }
            if isClosed { shutdown(connection, Int32(SHUT_RDWR)) }
            Thread.detachNewThread { [self] in serve(connection) }
        }
        _ = systemClose(listener)
    }

    private func serve(_ connection: Int32) {
        defer {
            state.withLock { $0.connections.removeAll { $0 == connection } }
            _ = systemClose(connection)
        }
        while let request = read(from: connection) {
            let number = state.withLock { state in
                state.requests.append(request)
                return state.requests.count
            }
            switch react(request, number) {
            case .answer(let text): guard write(text, to: connection) else { return }
            case .answerAndClose(let text):
                _ = write(text, to: connection)
                return
            case .close: return
            case .hold(let text):
                _ = write(text, to: connection)
                var byte: UInt8 = 0
                // Until the other side closes.
                while recv(connection, &byte, 1, 0) > 0 {}
                return
            case .endless(let text):
                guard write(text, to: connection) else { return }
                // Not as fast as the machine: a flood keeps Foundation on Linux from telling what has arrived.
                let chunk = String(repeating: "x", count: 1 << 12)
                while write(chunk, to: connection) { usleep(500) }
                whenClosed()
                return
            }
        }
    }

    private func read(from connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                let length = head.split(separator: "\r\n").lazy.compactMap { line -> Int? in
                    guard line.lowercased().hasPrefix("content-length:") else { return nil }
                    return Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces))
                }.first
                if bytes.count - end.upperBound >= length ?? 0 {
                    return Request(head: head, body: Array(bytes[end.upperBound...]))
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
            // The beginning of a secure connection, which this server does not have.
            if bytes.first == 0x16 { return Request(head: "", body: bytes) }
        }
    }

    private func write(_ text: String, to connection: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            #if canImport(Glibc)
                let flags = Int32(MSG_NOSIGNAL)
            #else
                let flags: Int32 = 0
            #endif
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// Calls the system's function, whose name is hidden by a method.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

extension RawServer {
    /// An answer with JSON.
    static func json(_ text: String, status: String = "200 OK", _ headers: [String] = []) -> String {
        let lines = [
            "HTTP/1.1 \(status)", "Content-Type: application/json", "Content-Length: \(text.utf8.count)",
        ]
        return (lines + headers).joined(separator: "\r\n") + "\r\n\r\n" + text
    }
}
