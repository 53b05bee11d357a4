@_spi(Server) import CodableSync
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
@_spi(Server) import RecordServerKit
import XCTest

/// A server in memory, and requests to it.
struct ServerFixture {
    let configuration: ServerConfiguration
    let server: RecordServer
    let lines = LogLines()

    static let prefix = "/database/1/iCloud.test/development/private/"

    init(_ change: (inout ServerConfiguration) -> Void = { _ in }) throws {
        var configuration = ServerConfiguration(container: "iCloud.test", users: ["alice", "bob"])
        configuration.port = 0
        change(&configuration)
        self.configuration = configuration
        let lines = lines
        server = try RecordServer(
            configuration,
            storage: ServerStorage.memory().ledger,
            key: Array(repeating: 7, count: 32),
            logger: Logger(label: "test") { _ in lines }
        )
    }

    /// The query of a user's requests.
    func query(_ user: String = "alice", token: String? = nil) -> String {
        "?ckAPIToken=\(server.apiToken)&ckWebAuthToken=\(token ?? server.webAuthToken(of: user))"
    }

    /// Runs requests against the router, without sockets.
    func run(_ body: @Sendable @escaping (any TestClientProtocol) async throws -> Void) async throws {
        try await server.application().test(.router, body)
    }

    /// Runs requests over a socket.
    func runLive(_ body: @Sendable @escaping (any TestClientProtocol) async throws -> Void) async throws {
        try await server.application().test(.live, body)
    }
}

extension TestClientProtocol {
    /// Sends a body to a path, with the server's name.
    func post(
        _ uri: String,
        _ body: String = "{}",
        headers: HTTPFields = [:],
        method: HTTPRequest.Method = .post
    ) async throws -> TestResponse {
        try await execute(uri: uri, method: method, headers: headers, body: ByteBuffer(string: body))
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }

    /// A member of the JSON object.
    func member(_ key: String) throws -> String? {
        let json = try JSONSerialization.jsonObject(with: Data(Array(buffer: body))) as? [String: Any]
        return json?[key] as? String
    }

    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
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
