import Foundation
import XCTest

@testable import CodableSync

/// A server on this computer that answers with the bytes that a test says, whatever they are.
final class RawServer: Sendable {
    /// A request as it arrived.
    struct Request: Sendable {
        var head: String
        var body: [UInt8]
        /// Which of the server's connections it came by.
        var connection = 0
    }

    /// What to do with a request; after the last byte, the connection stays open unless it is closed.
    enum Reaction: Sendable {
        case answer(String)
        /// An answer, then something else that the test does once it was sent.
        case answerAnd(String, @Sendable () -> Void)
        /// The bytes, then the end of the connection.
        case answerAndClose(String)
        case close
        /// The end of the connection, as by a process that is killed before it has read everything.
        case reset
        /// The beginning of an answer, and no more.
        case hold(String)
        /// The beginning of an answer, then bytes without an end.
        case endless(String, Endless = Endless())
    }

    /// Bytes without an end.
    struct Endless: Sendable {
        /// What comes first.
        var first: [UInt8] = []
        /// What is repeated.
        var chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 12)
        /// The microseconds after each; by default 8 MB come in a second, which is no flood.
        var pause: UInt32 = 500

        /// As many as the client can read.
        static let flood = Endless(chunk: [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16), pause: 0)
    }

    private struct State {
        var requests: [Request] = []
        var connections: [Int32] = []
        /// How many connections there were.
        var count = 0
        var isClosed = false
    }

    let port: Int
    private let listener: Int32
    private let state = Locked(State())
    private let listening = DispatchGroup()
    private let whenClosed: @Sendable () -> Void
    private let react: @Sendable (Request, _ number: Int) -> Reaction

    /// - Parameters:
    ///   - port: The port, such as that of a server that was closed; by default a free one.
    ///   - whenClosed: Called when a client has closed a connection before the end of an answer.
    ///   - react: What to do with a request.
    /// - Throws: `XCTSkip` if there are no sockets here.
    init(
        port: Int = 0,
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
        address.sin_port = in_port_t(port).bigEndian
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        try XCTSkipUnless(isListening, "no socket: \(String(cString: strerror(errno)))")
        self.port = Int(UInt16(bigEndian: address.sin_port))
        listening.enter()
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
        // The port is free then.
        listening.wait()
    }

    private func accept() {
        while true {
            #if canImport(Glibc)
                let connection = Glibc.accept(listener, nil, nil)
            #else
                let connection = Darwin.accept(listener, nil, nil)
            #endif
            guard connection >= 0 else { break }
            let (isClosed, place) = state.withLock { state in
                state.connections.append(connection)
                state.count += 1
                return (state.isClosed, state.count)
            }
            if isClosed { shutdown(connection, Int32(SHUT_RDWR)) }
            Thread.detachNewThread { [self] in serve(connection, place) }
        }
        _ = systemClose(listener)
        listening.leave()
    }

    private func serve(_ connection: Int32, _ place: Int) {
        defer {
            state.withLock { $0.connections.removeAll { $0 == connection } }
            _ = systemClose(connection)
        }
        while var request = read(from: connection) {
            request.connection = place
            let number = state.withLock { state in
                state.requests.append(request)
                return state.requests.count
            }
            switch react(request, number) {
            case .answer(let text): guard write(text, to: connection) else { return }
            case .answerAnd(let text, let body):
                guard write(text, to: connection) else { return }
                body()
            case .answerAndClose(let text):
                _ = write(text, to: connection)
                return
            case .close: return
            case .reset:
                var linger = linger(l_onoff: 1, l_linger: 0)
                let size = socklen_t(MemoryLayout.size(ofValue: linger))
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, size)
                return
            case .hold(let text):
                _ = write(text, to: connection)
                var byte: UInt8 = 0
                // Until the other side closes.
                while recv(connection, &byte, 1, 0) > 0 {}
                return
            case .endless(let text, let endless):
                guard write(Array(text.utf8) + endless.first, to: connection) else { return }
                while write(endless.chunk, to: connection) {
                    if endless.pause > 0 { usleep(endless.pause) }
                }
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
        write(Array(text.utf8), to: connection)
    }

    private func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
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

    /// An answer of services in memory; the thread waits for it.
    static func answer(of services: StubTransport, to request: Request) -> String {
        let words = request.head.split(separator: " ")
        guard words.count > 1, let url = URL(string: "http://127.0.0.1" + words[1]) else {
            return json("{}", status: "400 Bad Request")
        }
        let call = WebTransportRequest(method: String(words[0]), url: url, body: Data(request.body))
        let answer = Locked<WebTransportResponse?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task {
            do throws(CloudError) {
                let response = try await services.response(to: call)
                answer.withLock { $0 = response }
            } catch {
                // There is no answer.
            }
            done.signal()
        }
        done.wait()
        guard let response = answer.withLock({ $0 }) else {
            return json("{}", status: "500 Internal Server Error")
        }
        return json(
            String(decoding: response.body, as: UTF8.self),
            status: "\(response.status) Answered",
            response.headers.map { "\($0.key): \($0.value)" }
        )
    }
}
