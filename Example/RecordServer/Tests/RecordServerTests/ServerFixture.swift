@_spi(Server) import CodableSync
import Foundation
import Logging
@_spi(Server) import RecordServerKit
import ServiceLifecycle
import XCTest

/// A server in memory that listens on loopback, and a client for it.
struct ServerFixture: Sendable {
    let server: RecordServer
    let lines = LogLines()
    private let logger: Logger

    static let prefix = "/database/1/iCloud.test/development/private/"

    init(
        storage: any LedgerStorage = ServerStorage.memory().ledger,
        _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = ServerConfiguration(container: "iCloud.test", users: ["alice", "bob"])
        configuration.port = 0
        change(&configuration)
        let lines = lines
        logger = Logger(label: "test") { _ in lines }
        server = try RecordServer(
            configuration,
            storage: storage,
            key: Array(repeating: 7, count: 32),
            logger: logger
        )
    }

    /// The query of a user's requests.
    func query(_ user: String = "alice", token: String? = nil) -> String {
        "?ckAPIToken=\(server.apiToken)&ckWebAuthToken=\(token ?? server.webAuthToken(of: user))"
    }

    /// Runs the server as long as a closure sends requests.
    func run(_ body: @Sendable @escaping (TestClient) async throws -> Void) async throws {
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = server.application { port.yield($0) }
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { port.finish() }
                try await group.run()
            }
            for await port in ports.prefix(1) {
                do {
                    try await body(TestClient(port: port))
                } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
}

/// Sends requests, each over a connection of its own.
struct TestClient: Sendable {
    let port: Int

    func get(_ path: String, headers: [String: String] = [:]) async throws -> TestResponse {
        try await send("GET", path, "", headers)
    }

    func post(
        _ path: String,
        _ body: String = "{}",
        headers: [String: String] = [:]
    ) async throws -> TestResponse {
        try await send("POST", path, body, headers)
    }

    func send(
        _ method: String,
        _ path: String,
        _ body: String = "",
        _ headers: [String: String] = [:]
    ) async throws -> TestResponse {
        try TestResponse(await sendRaw(method, path, body, headers))
    }

    /// Returns what has arrived when the connection ends; nothing if there was no answer.
    func sendRaw(_ method: String, _ path: String, _ body: String, _ headers: [String: String] = [:])
        async throws -> String
    {
        let connection = try RawConnection(port: port)
        var headers = headers
        let host = headers.removeValue(forKey: "Host") ?? "localhost"
        var lines = ["\(method) \(path) HTTP/1.1", "Host: \(host)", "Connection: close"]
        if method == "POST" { lines.append("Content-Length: \(body.utf8.count)") }
        lines += headers.map { "\($0): \($1)" }
        connection.send((lines + ["", body]).joined(separator: "\r\n"))
        return await connection.read().text
    }
}

/// An answer of a server.
struct TestResponse {
    let status: Int
    let text: String
    private let head: [Substring]

    init(_ answer: String) throws {
        let parts = answer.components(separatedBy: "\r\n\r\n")
        head = try XCTUnwrap(parts.first).split(separator: "\r\n")
        status = try XCTUnwrap(
            head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) },
            answer
        )
        text = parts.dropFirst().joined(separator: "\r\n\r\n")
    }

    /// All headers.
    var headers: [String: String] {
        let pairs = head.dropFirst().compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), line[colon...].dropFirst().trimmingCharacters(in: .whitespaces))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// The value of a header.
    func header(_ name: String) -> String? {
        let start = name.lowercased() + ": "
        return head.first { $0.lowercased().hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }

    /// A member of the JSON object.
    func member(_ key: String) throws -> String? {
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return json?[key] as? String
    }
}

/// Collects what a server logs.
final class LogLines: LogHandler, @unchecked Sendable {
    private let lock = NSLock()
    private var collected: [String] = []

    var lines: [String] { lock.withLock { collected } }
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        lock.withLock { collected.append("\(event.message) \(event.metadata ?? [:])") }
    }
}
